/* MSCCL XML: from the text to records, through expat. */
#include "collectives/read/msccl_xml/parse.h"

#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 65536
#define BLANKS   " \t\r\n"

enum level { OUTSIDE, ALGO, GPU, TB, STEP };

struct reading {
    XML_Parser parser;
    struct nuna_xml *xml;
    struct nuna_error *err;
    enum level level;
    unsigned ignored; /* depth within an unknown element */
    bool failed, ended, strange, misnumbered;
    XML_Index end_at; /* of </algo> */
};

static const char *const type_names[NUNA_XML_TYPES] = {"s",    "r",   "rcs", "rrc", "rrs",
                                                       "rrcs", "cpy", "re",  "nop"};

static uint32_t here_line(const struct reading *r)
{
    return (uint32_t)XML_GetCurrentLineNumber(r->parser);
}

static uint32_t here_column(const struct reading *r)
{
    return (uint32_t)XML_GetCurrentColumnNumber(r->parser) + 1;
}

__attribute__((format(printf, 2, 3))) static bool bad(struct reading *r, const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (!r->failed)
        nuna_fail(r->err, NUNA_EXIT_BAD_INPUT, "%s:%u:%u: %s", r->xml->path, here_line(r),
                  here_column(r), what);
    r->failed = true;
    XML_StopParser(r->parser, XML_FALSE);
    return false;
}

static bool no_memory(struct reading *r)
{
    if (!r->failed)
        nuna_fail_memory(r->err, "a plan");
    r->failed = true;
    XML_StopParser(r->parser, XML_FALSE);
    return false;
}

__attribute__((format(printf, 2, 3))) static void warn(struct reading *r, const char *format, ...)
{
    char line[400], *all = NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const char *before = r->xml->warnings;
    if (asprintf(&all, "%s%s\n", before == NULL ? "" : before, line) < 0) {
        no_memory(r);
        return;
    }
    free(r->xml->warnings);
    r->xml->warnings = all;
}

/* ---- attributes ---- */

static const char *find(const XML_Char **attributes, const char *name)
{
    for (; *attributes != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static bool missing(struct reading *r, const char *element, const char *name)
{
    return bad(r, "<%s> lacks %s", element, name);
}

/* As C reads it: 0x and 0 prefixes count. */
static bool number(struct reading *r, const char *element, const XML_Char **attributes,
                   const char *name, bool needed, int64_t least, int64_t most, int64_t *ret)
{
    const char *text = find(attributes, name);
    if (text == NULL)
        return !needed || missing(r, element, name);
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0)
        return bad(r, "%s=\"%.40s\": expected a whole number", name, text);
    if (value < least || value > most)
        return bad(r, "%s=\"%.40s\": expected a number from %lld to %lld", name, text,
                   (long long)least, (long long)most);
    *ret = value;
    return true;
}

static bool small(struct reading *r, const char *element, const XML_Char **attributes,
                  const char *name, bool needed, int32_t least, int32_t most, int32_t *ret)
{
    int64_t value = *ret;
    if (!number(r, element, attributes, name, needed, least, most, &value))
        return false;
    *ret = (int32_t)value;
    return true;
}

static bool buffer(struct reading *r, const XML_Char **attributes, const char *name, uint8_t *ret)
{
    const char *text = find(attributes, name);
    if (text == NULL)
        return missing(r, "step", name);
    static const char letters[] = "ios";
    const char *letter = text[0] == '\0' || text[1] != '\0' ? NULL : strchr(letters, text[0]);
    if (letter == NULL)
        return bad(r, "%s=\"%.20s\": expected i (input), o (output) or s (scratch)", name, text);
    *ret = (uint8_t)(letter - letters);
    return true;
}

/* ---- elements ---- */

static bool read_proto(struct reading *r, const XML_Char **attributes)
{
    const char *proto = find(attributes, "proto");
    if (proto == NULL)
        return missing(r, "algo", "proto");
    if (strcmp(proto, "Simple") == 0)
        r->xml->proto = NUNA_FORM_DATA;
    else if (strcmp(proto, "LL") == 0)
        r->xml->proto = NUNA_FORM_LL;
    else if (strcmp(proto, "LL128") == 0)
        r->xml->proto = NUNA_FORM_LL128;
    else
        return bad(r, "proto=\"%.40s\": unknown protocol, expected Simple, LL or LL128", proto);
    return true;
}

static bool read_algo(struct reading *r, const XML_Char **attributes)
{
    struct nuna_xml *xml = r->xml;
    const char *name = find(attributes, "name"), *coll = find(attributes, "coll");
    xml->line = here_line(r);
    xml->column = here_column(r);
    snprintf(xml->name, sizeof xml->name, "%s", name == NULL ? "unnamed" : name);
    snprintf(xml->coll, sizeof xml->coll, "%s", coll == NULL ? "custom" : coll);
    xml->ngpus = xml->inplace = xml->outofplace = -1;
    r->level = ALGO;
    return read_proto(r, attributes) &&
           small(r, "algo", attributes, "nchannels", true, 1, 1 << 16, &xml->nchannels) &&
           small(r, "algo", attributes, "nchunksperloop", true, 1, (int32_t)NUNA_XML_CHUNKS_MAX,
                 &xml->nchunksperloop) &&
           small(r, "algo", attributes, "ngpus", false, 1, GPUS_MAX, &xml->ngpus) &&
           small(r, "algo", attributes, "inplace", false, 0, 1, &xml->inplace) &&
           small(r, "algo", attributes, "outofplace", false, 0, 1, &xml->outofplace) &&
           number(r, "algo", attributes, "minBytes", false, 0, INT64_MAX, &xml->min_bytes) &&
           number(r, "algo", attributes, "maxBytes", false, 0, INT64_MAX, &xml->max_bytes);
}

/* Room for one more record of a list; NULL after an error. */
static void *room(struct reading *r, void *list, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return list;
    size_t more = *cap == 0 ? 64 : *cap * 2;
    void *grown = more > UINT32_MAX ? NULL : realloc(list, more * size);
    if (grown == NULL) {
        no_memory(r);
        return NULL;
    }
    *cap = more;
    return grown;
}

#define ADD(list, count, cap)                                                                      \
    ((grown = room(r, xml->list, xml->count, &xml->cap, sizeof *xml->list)) != NULL)

static bool read_gpu(struct reading *r, const XML_Char **attributes)
{
    struct nuna_xml *xml = r->xml;
    struct nuna_xml_gpu gpu = {
        .line = here_line(r), .column = here_column(r), .tb_at = xml->tb_count};
    void *grown;
    r->level = GPU;
    if (!small(r, "gpu", attributes, "id", true, INT32_MIN, INT32_MAX, &gpu.id) ||
        !small(r, "gpu", attributes, "i_chunks", true, 0, (int32_t)NUNA_XML_CHUNKS_MAX,
               &gpu.chunks[0]) ||
        !small(r, "gpu", attributes, "o_chunks", true, 0, (int32_t)NUNA_XML_CHUNKS_MAX,
               &gpu.chunks[1]) ||
        !small(r, "gpu", attributes, "s_chunks", true, 0, (int32_t)NUNA_XML_CHUNKS_MAX,
               &gpu.chunks[2]) ||
        !ADD(gpus, gpu_count, gpu_cap))
        return false;
    xml->gpus = grown;
    xml->gpus[xml->gpu_count++] = gpu;
    return true;
}

static bool read_tb(struct reading *r, const XML_Char **attributes)
{
    struct nuna_xml *xml = r->xml;
    struct nuna_xml_tb tb = {.line = here_line(r),
                             .column = here_column(r),
                             .gpu = (uint32_t)xml->gpu_count - 1,
                             .step_at = xml->step_count};
    void *grown;
    r->level = TB;
    if (!small(r, "tb", attributes, "id", true, INT32_MIN, INT32_MAX, &tb.id) ||
        !small(r, "tb", attributes, "send", true, -1, INT32_MAX, &tb.send) ||
        !small(r, "tb", attributes, "recv", true, -1, INT32_MAX, &tb.recv) ||
        !small(r, "tb", attributes, "chan", true, -1, INT32_MAX, &tb.chan) ||
        !ADD(tbs, tb_count, tb_cap))
        return false;
    xml->tbs = grown;
    xml->tbs[xml->tb_count++] = tb;
    xml->gpus[tb.gpu].tb_count++;
    return true;
}

static bool read_type(struct reading *r, const XML_Char **attributes, uint8_t *ret)
{
    const char *type = find(attributes, "type");
    if (type == NULL)
        return missing(r, "step", "type");
    for (uint8_t i = 0; i < NUNA_XML_TYPES; i++)
        if (strcmp(type, type_names[i]) == 0) {
            *ret = i;
            return true;
        }
    const struct nuna_xml_tb *tb = &r->xml->tbs[r->xml->tb_count - 1];
    return bad(
        r,
        "type=\"%.20s\": unknown step type at gpu%d/tb%d/s%zu, expected s, r, rcs, rrc, rrs, "
        "rrcs, cpy, re or nop",
        type, r->xml->gpus[tb->gpu].id, tb->id, tb->step_count);
}

static bool read_step(struct reading *r, const XML_Char **attributes)
{
    struct nuna_xml *xml = r->xml;
    struct nuna_xml_step step = {.line = here_line(r), .column = here_column(r)};
    int32_t hasdep = 0, s = 0;
    void *grown;
    r->level = STEP;
    if (!small(r, "step", attributes, "s", true, 0, INT32_MAX, &s) ||
        !read_type(r, attributes, &step.type) || !buffer(r, attributes, "srcbuf", &step.srcbuf) ||
        !small(r, "step", attributes, "srcoff", true, -1, INT32_MAX, &step.srcoff) ||
        !buffer(r, attributes, "dstbuf", &step.dstbuf) ||
        !small(r, "step", attributes, "dstoff", true, -1, INT32_MAX, &step.dstoff) ||
        !small(r, "step", attributes, "cnt", true, 0, 71, &step.cnt) ||
        !small(r, "step", attributes, "depid", true, -1, INT32_MAX, &step.depid) ||
        !small(r, "step", attributes, "deps", true, -1, INT32_MAX, &step.deps) ||
        !small(r, "step", attributes, "hasdep", true, 0, 1, &hasdep) ||
        !ADD(steps, step_count, step_cap))
        return false;
    step.hasdep = hasdep == 1;
    struct nuna_xml_tb *tb = &xml->tbs[xml->tb_count - 1];
    if ((size_t)s != tb->step_count && !r->misnumbered) {
        warn(r,
             "%s:%u:%u: s=\"%d\" at gpu%d/tb%d/s%zu: steps run, and `deps` counts them, in the "
             "order of the file",
             xml->path, step.line, step.column, s, xml->gpus[tb->gpu].id, tb->id, tb->step_count);
        r->misnumbered = true;
    }
    xml->steps = grown;
    xml->steps[xml->step_count++] = step;
    tb->step_count++;
    return true;
}

static void XMLCALL start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reading *r = context;
    static const char *const names[] = {"algo", "gpu", "tb", "step"};
    if (r->failed)
        return;
    if (r->level == OUTSIDE && strcmp(name, "algo") != 0) {
        bad(r, "<%.40s> is not an MSCCL algorithm, expected <algo>", name);
        return;
    }
    if (r->ignored > 0 || r->level == STEP || strcmp(name, names[r->level]) != 0) {
        for (size_t i = 0; r->ignored == 0 && i < 4; i++)
            if (strcmp(name, names[i]) == 0) {
                bad(r, "<%s> within <%s>", name, names[r->level - 1]);
                return;
            }
        if (!r->strange)
            warn(r, "%s:%u:%u: <%.40s>: unknown element, ignored", r->xml->path, here_line(r),
                 here_column(r), name);
        r->strange = true;
        r->ignored++;
        return;
    }
    switch (r->level) {
    case OUTSIDE:
        read_algo(r, attributes);
        break;
    case ALGO:
        read_gpu(r, attributes);
        break;
    case GPU:
        read_tb(r, attributes);
        break;
    default:
        read_step(r, attributes);
        break;
    }
}

static void XMLCALL end(void *context, const XML_Char *name)
{
    struct reading *r = context;
    (void)name;
    if (r->failed)
        return;
    if (r->ignored > 0) {
        r->ignored--;
        return;
    }
    r->level--;
    if (r->level == OUTSIDE) {
        r->ended = true;
        r->end_at = XML_GetCurrentByteIndex(r->parser);
        XML_StopParser(r->parser, XML_FALSE); /* what follows may not be XML */
    }
}

static void XMLCALL doctype(void *context, const XML_Char *name, const XML_Char *system,
                            const XML_Char *public_id, int internal)
{
    (void)name, (void)system, (void)public_id, (void)internal;
    bad(context, "<!DOCTYPE> and entities are not supported");
}

/* Past the end of an <algo>, or at its root. */
static void check_rest(struct reading *r, const char *rest)
{
    rest += strcspn(rest, ">");
    rest += *rest == '>';
    const char *comment_end;
    rest += strspn(rest, BLANKS);
    while (strncmp(rest, "<!--", 4) == 0 && (comment_end = strstr(rest, "-->")) != NULL) {
        rest = comment_end + 3;
        rest += strspn(rest, BLANKS);
    }
    if (*rest == '\0')
        return;
    size_t length = strcspn(rest, "\r\n");
    if (strstr(rest, "<algo") != NULL)
        warn(r, "%s: more than one <algo>, only the first is read", r->xml->path);
    else
        warn(r,
             "%s: text after </algo>: \"%.*s\"; msccl-tools prints complaints there, and then the "
             "plan is wrong",
             r->xml->path, (int)(length < 60 ? length : 60), rest);
}

static bool parse(struct reading *r, const struct nuna_plan_text *text)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, start, end);
    XML_SetStartDoctypeDeclHandler(r->parser, doctype);
    size_t at = 0;
    enum XML_Status status = XML_STATUS_OK;
    while (status == XML_STATUS_OK && at < text->length) {
        size_t length = text->length - at < (1u << 20) ? text->length - at : 1u << 20;
        status = XML_Parse(r->parser, text->text + at, (int)length, at + length == text->length);
        at += length;
    }
    if (r->failed)
        return false;
    if (r->ended) {
        if (r->end_at >= 0 && (size_t)r->end_at < text->length)
            check_rest(r, text->text + r->end_at);
        return !r->failed;
    }
    enum XML_Error code = XML_GetErrorCode(r->parser);
    return code == XML_ERROR_NO_MEMORY ? no_memory(r)
                                       : bad(r, "%s",
                                             code == XML_ERROR_NONE ? "the file ends within <algo>"
                                                                    : XML_ErrorString(code));
}

bool nuna_xml_parse(const struct nuna_plan_text *text, struct nuna_xml *ret, struct nuna_error *err)
{
    struct reading r = {.xml = ret, .err = err};
    *ret = (struct nuna_xml){.path = text->path};
    r.parser = XML_ParserCreate(NULL);
    if (r.parser == NULL)
        return nuna_fail_memory(err, "a plan");
    bool good = parse(&r, text);
    XML_ParserFree(r.parser);
    return good;
}
