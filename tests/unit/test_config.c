#include "core/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_DUE "expected sections with keys, such as noc: and below it columns: 24"

/* Each test works in a directory of its own, so that messages have short, fixed file names. */
static char directory[64];

static void enter(void)
{
    strcpy(directory, "/tmp/nuna-config-XXXXXX");
    cr_assert(mkdtemp(directory) != NULL);
    cr_assert_eq(chdir(directory), 0);
}

static void leave(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf -- %s", directory);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(system(command), 0);
}

static void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file != NULL);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static struct nuna_config *create(void)
{
    struct nuna_config *config = nuna_config_create();
    cr_assert(config != NULL);
    return config;
}

static void expect_load_error(const char *path, const char *message)
{
    struct nuna_config *config = create();
    struct nuna_error err = {0};
    cr_assert(!nuna_config_load(config, path, &err), "loaded, expected: %s", message);
    cr_assert_str_eq(err.message, message);
    cr_assert_eq(err.code, NUNA_EXIT_BAD_INPUT);
    nuna_config_destroy(config);
}

static struct nuna_config *load(const char *path)
{
    struct nuna_config *config = create();
    struct nuna_error err = {0};
    cr_assert(nuna_config_load(config, path, &err), "%s", err.message);
    return config;
}

TestSuite(config, .init = enter, .fini = leave);

static const struct bad {
    const char *text;
    const char *message;
} bad_texts[] = {
    /* Keys. */
    {"nocc:\n  rows: 6\n", "f.yaml:1:1: nocc: unknown section, did you mean noc?"},
    {"weather:\n  rows: 6\n",
     "f.yaml:1:1: weather: unknown section, `nunasim params` lists all keys"},
    {"includes: a\n", "f.yaml:1:1: includes: unknown section, did you mean include?"},
    {"rows: 6\n", "f.yaml:1:1: rows: unknown section, rows is a key of section noc"},
    {"noc.rows: 6\n",
     "f.yaml:1:1: noc.rows: dotted keys are for --set, expected noc: and below it rows:"},
    {"noc:\n  hop_latancy: 5ns\n",
     "f.yaml:2:3: noc.hop_latancy: unknown key, did you mean noc.hop_latency?"},
    {"noc:\n  Rows: 6\n", "f.yaml:2:3: noc.Rows: unknown key, did you mean noc.rows?"},
    {"noc:\n  page_size: 4KiB\n",
     "f.yaml:2:3: noc.page_size: unknown key, page_size belongs to section hbm"},
    {"noc:\n  pagesize: 4KiB\n",
     "f.yaml:2:3: noc.pagesize: unknown key, did you mean hbm.page_size?"},
    {"noc:\n  weather: 4\n",
     "f.yaml:2:3: noc.weather: unknown key, `nunasim params` lists all keys"},
    {"noc:\n  rows: 6\n  rows: 6\n",
     "f.yaml:3:3: noc.rows: given twice, first in line 2; expected once"},
    {"noc:\n  rows: 6\nnoc:\n  columns: 6\n",
     "f.yaml:3:1: noc: given twice, first in line 1; expected once"},
    {"? [a]\n: b\n", "f.yaml:1:3: not a key, expected one such as columns:"},
    {"schema_version: 2\nnoc:\n  rows: 6\n", "f.yaml:1:17: schema_version: not known, expected 1"},
    {"schema_version: [1]\n", "f.yaml:1:17: schema_version: not known, expected 1"},
    /* Values. */
    {"noc:\n  hop_latency: 64\n",
     "f.yaml:2:16: noc.hop_latency: \"64\" has no unit; expected a time with a unit, such as "
     "12.8ns"},
    {"noc:\n  hop_latency: 64GB/s\n",
     "f.yaml:2:16: noc.hop_latency: \"64GB/s\" is a rate; expected a time with a unit, such as "
     "12.8ns"},
    {"noc:\n  hop_latency: 2us\n",
     "f.yaml:2:16: noc.hop_latency: \"2us\" is out of range; expected 1ps to 1us"},
    {"noc:\n  link_rate: 0GB/s\n",
     "f.yaml:2:14: noc.link_rate: \"0GB/s\" is out of range; expected 1MB/s to 1000TB/s"},
    {"noc:\n  rows: 129\n", "f.yaml:2:9: noc.rows: \"129\" is out of range; expected 1 to 128"},
    {"noc:\n  fabric: meshh\n",
     "f.yaml:2:11: noc.fabric: \"meshh\" is not known (did you mean mesh?); expected one of mesh, "
     "uniform"},
    {"noc:\n  fabric: torus\n",
     "f.yaml:2:11: noc.fabric: \"torus\" is not known; expected one of mesh, uniform"},
    {"noc:\n  rows:\n  columns: 5\n",
     "f.yaml:2:8: noc.rows: no value; expected a whole number, such as 64"},
    {"noc:\n  rows: ~\n", "f.yaml:2:9: noc.rows: no value; expected a whole number, such as 64"},
    {"noc:\n  rows: null\n", "f.yaml:2:9: noc.rows: no value; expected a whole number, such as 64"},
    {"noc:\n  rows: \"\"\n", "f.yaml:2:9: noc.rows: no value; expected a whole number, such as 64"},
    {"noc:\n  fabric:\n", "f.yaml:2:10: noc.fabric: no value; expected one of mesh, uniform"},
    {"noc:\n  rows: [6]\n", "f.yaml:2:9: noc.rows: a list; expected a whole number, such as 64"},
    {"noc:\n  rows:\n    - 6\n",
     "f.yaml:3:5: noc.rows: a list; expected a whole number, such as 64"},
    {"noc:\n  rows: {a: 6}\n",
     "f.yaml:2:9: noc.rows: a group of keys; expected a whole number, such as 64"},
    {"noc:\n  rows:\n    a: 6\n",
     "f.yaml:3:5: noc.rows: a group of keys; expected a whole number, such as 64"},
    {"pod: 5\n",
     "f.yaml:1:1: pod: a single value; expected keys below the section, such as gpus: 64"},
    {"pod: [5]\n", "f.yaml:1:1: pod: a list; expected keys below the section, such as gpus: 64"},
    {"pod:\n  - gpus: 5\n",
     "f.yaml:1:1: pod: a list; expected keys below the section, such as gpus: 64"},
    {"pod:\n", "f.yaml:1:1: pod: no value; expected keys below the section, such as gpus: 64"},
    {"pod:\n  gpus: |\n    5\n",
     "f.yaml:2:9: pod.gpus: text over several lines, expected one line; is a line indented too "
     "far?"},
    {"noc:\n columns: 24\n   rows: 6\n",
     "f.yaml:2:11: noc.columns: text over several lines, expected one line; is a line indented too "
     "far?"},
    {"pod:\n  gpus: \"6\\0\"\n", "f.yaml:2:9: pod.gpus: a control character, expected plain text"},
    {"pod:\n  \"\\e[31m\": 6\n", "f.yaml:2:3: a control character, expected plain text"},
    /* The first error in the file is the one told. */
    {"noc:\n  rows: 0\n  rowz: 6\nweather: []\n",
     "f.yaml:2:9: noc.rows: \"0\" is out of range; expected 1 to 128"},
    /* YAML. */
    {"noc:\n\trows: 6\n", "f.yaml:2:1: a tab in the indentation, expected spaces"},
    {"noc:\n  columns: 24\n\trows: 6\n", "f.yaml:3:1: a tab in the indentation, expected spaces"},
    {"noc:\n \t rows: 6\n", "f.yaml:2:2: a tab in the indentation, expected spaces"},
    {"\tnoc:\n", "f.yaml:1:1: a tab in the indentation, expected spaces"},
    {"noc:\n  rows: &a 6\n", "f.yaml:2:9: noc.rows: an anchor (&name), expected the value alone"},
    {"noc: &a\n  rows: 6\n", "f.yaml:1:6: noc: an anchor (&name), expected the value alone"},
    {"noc:\n  rows: *a\n", "f.yaml:2:9: noc.rows: an alias (*name), expected the value itself"},
    {"noc:\n  rows: !!int 6\n", "f.yaml:2:9: noc.rows: a tag (!name), expected the value alone"},
    {"noc: !x\n  rows: 6\n", "f.yaml:1:6: noc: a tag (!name), expected the value alone"},
    {"noc:\n  rows: 6\n---\nnoc:\n  rows: 6\n", "f.yaml:3:1: a second YAML document, expected one"},
    {"noc:\n  rows: \"6\n",
     "f.yaml:3:1: noc.rows: not valid YAML: found unexpected end of stream (while scanning a quoted "
     "scalar, line 2)"},
    {"noc:\n  rows: 6\n columns: 24\n",
     "f.yaml:3:2: not valid YAML: did not find expected key (while parsing a block mapping, line "
     "1)"},
    {"noc:\n  rows: 6: 7\n",
     "f.yaml:2:10: not valid YAML: mapping values are not allowed in this context"},
    {"", "f.yaml:1:1: an empty file, " SECTIONS_DUE},
    {" \n\n", "f.yaml:1:1: an empty file, " SECTIONS_DUE},
    {"# nothing\n\n# yet\n", "f.yaml:1:1: a file without settings, " SECTIONS_DUE},
    {"---\n", "f.yaml:1:1: a file without settings, " SECTIONS_DUE},
    {"{}\n", "f.yaml:1:1: no settings, " SECTIONS_DUE},
    {"- noc\n", "f.yaml:1:1: a list, " SECTIONS_DUE},
    {"# x\nnoc\n", "f.yaml:2:1: text without a key, " SECTIONS_DUE},
    {"noc:\n  rows: \xFF\n", "f.yaml:2:9: invalid UTF-8, expected a text file in UTF-8"},
    {"noc:\n  rows: \xC0\x80\n", "f.yaml:2:9: invalid UTF-8, expected a text file in UTF-8"},
    {"noc: # \xED\xA0\x80\n", "f.yaml:1:8: invalid UTF-8, expected a text file in UTF-8"},
    {"noc: # \xE2\x82", "f.yaml:1:8: invalid UTF-8, expected a text file in UTF-8"},
    {"noc: # \xC3\xBC\x1B[31m\n", "f.yaml:1:9: a control character, expected a text file"},
    /* Columns count characters, as editors do. */
    {"noc: {\"r\xC3\xBCws\": 6, rowz: 6}\n",
     "f.yaml:1:7: noc.r\xC3\xBCws: unknown key, `nunasim params` lists all keys"},
    {"noc:\r\n  rows: 6\r\n  rowz: 6\r\n",
     "f.yaml:3:3: noc.rowz: unknown key, did you mean noc.rows?"},
};

Test(config, bad_texts)
{
    for (size_t i = 0; i < sizeof(bad_texts) / sizeof(bad_texts[0]); i++) {
        write_text("f.yaml", bad_texts[i].text);
        expect_load_error("f.yaml", bad_texts[i].message);
    }
}

Test(config, bad_files)
{
    write_bytes("nul.yaml", "noc:\n  rows: 6\0\n", 16);
    expect_load_error("nul.yaml", "nul.yaml:2:10: a NUL byte, expected a text file");
    write_bytes("utf16.yaml", "\xFF\xFEn\0o\0", 6);
    expect_load_error("utf16.yaml", "utf16.yaml:1:1: invalid UTF-8, expected a text file in UTF-8");
    expect_load_error("none.yaml", "none.yaml: cannot open: No such file or directory");
    expect_load_error(".", ".: is a directory, expected a configuration file");
    expect_load_error("/dev/zero", "/dev/zero: is over 1 MiB, expected a configuration file");
    expect_load_error("", ": cannot open: No such file or directory");
    if (geteuid() != 0) {
        write_text("locked.yaml", "noc:\n  rows: 6\n");
        cr_assert_eq(chmod("locked.yaml", 0), 0);
        expect_load_error("locked.yaml", "locked.yaml: cannot open: Permission denied");
    }
}

static void write_padded(const char *path, size_t size)
{
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    int written = fprintf(file, "noc:\n  rows: 6\n");
    for (size_t i = (size_t)written; i < size; i++)
        fputc(i % 80 == 0 ? '\n' : '#', file);
    cr_assert_eq(fclose(file), 0);
}

Test(config, size_limit_is_tight)
{
    write_padded("f.yaml", (1 << 20) + 1);
    expect_load_error("f.yaml", "f.yaml: is over 1 MiB, expected a configuration file");
    write_padded("f.yaml", 1 << 20);
    nuna_config_destroy(load("f.yaml"));
}

Test(config, good_texts)
{
    static const char *const texts[] = {
        "noc:\n  rows: 8\n",
        "noc:\n  rows: 8", /* no newline at the end */
        "schema_version: 1\nnoc: {rows: 8}\n",
        "---\n\"noc\":\n  'rows': \"8\"   # t\xC3\xBCrk\n...\n",
        "\xEF\xBB\xBFnoc:\n  rows:\t8\n",
        "noc:\r\n  rows: 8\r\n",
        "noc:\n  # \tcomment\n\n  rows: 8\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_text("f.yaml", texts[i]);
        struct nuna_config *config = load("f.yaml");
        cr_assert_eq(nuna_config_params(config)->noc.rows, 8, "text %zu", i);
        cr_assert(nuna_config_is_set(config, "noc.rows"));
        cr_assert(!nuna_config_is_set(config, "noc.columns"));
        cr_assert(!nuna_config_is_set(config, "noc.weather"));
        cr_assert(!nuna_config_is_set(config, "noc"));
        nuna_config_destroy(config);
    }
    nuna_config_destroy(NULL);
}

Test(config, includes)
{
    cr_assert_eq(mkdir("sub", 0700), 0);
    cr_assert_eq(mkdir("sub/deep", 0700), 0);
    /* The include is applied first, wherever it stands. */
    write_text("f.yaml", "noc:\n  rows: 8\ninclude: sub/base.yaml\n");
    write_text("sub/base.yaml", "include: deep/root.yaml\nnoc:\n  rows: 4\n  columns: 12\n");
    write_text("sub/deep/root.yaml", "noc:\n  rows: 2\n  columns: 4\n  dies: 2\n");
    struct nuna_config *config = load("f.yaml");
    cr_assert_eq(nuna_config_params(config)->noc.rows, 8);
    cr_assert_eq(nuna_config_params(config)->noc.columns, 12);
    cr_assert_eq(nuna_config_params(config)->noc.dies, 2);
    nuna_config_destroy(config);

    write_text("sub/deep/root.yaml", "noc:\n  rowz: 2\n");
    expect_load_error("f.yaml",
                      "sub/deep/root.yaml:2:3: noc.rowz: unknown key, did you mean noc.rows?");
    write_text("sub/deep/root.yaml", "include: ../../f.yaml\n");
    expect_load_error("f.yaml", "sub/deep/root.yaml:1:10: include: sub/deep/../../f.yaml is being "
                                "read already, files must not include each other in a circle");
    cr_assert_eq(unlink("sub/deep/root.yaml"), 0);
    expect_load_error("f.yaml", "sub/base.yaml:1:10: include: sub/deep/root.yaml: cannot open: No "
                                "such file or directory");
    cr_assert_eq(mkdir("sub/deep/root.yaml", 0700), 0);
    expect_load_error("f.yaml", "sub/base.yaml:1:10: include: sub/deep/root.yaml: is a directory, "
                                "expected a configuration file");
}

Test(config, bad_includes)
{
    static const struct bad bad[] = {
        {"include: f.yaml\n", "f.yaml:1:10: include: f.yaml is being read already, files must not "
                              "include each other in a circle"},
        {"include: [a.yaml]\n",
         "f.yaml:1:10: include: not a file name, expected one, such as base.yaml"},
        {"include:\n", "f.yaml:1:9: include: not a file name, expected one, such as base.yaml"},
        {"include: {a: b}\n",
         "f.yaml:1:10: include: not a file name, expected one, such as base.yaml"},
        {"include: ok.yaml\ninclude: ok.yaml\n",
         "f.yaml:2:1: include: given twice, first in line 1; expected once"},
    };
    write_text("ok.yaml", "noc:\n  rows: 6\n");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_text("f.yaml", bad[i].text);
        expect_load_error("f.yaml", bad[i].message);
    }
}

Test(config, include_depth_is_tight)
{
    char name[32], text[64];
    for (int i = 0; i <= 17; i++) {
        snprintf(name, sizeof(name), "%d.yaml", i);
        snprintf(text, sizeof(text), i < 17 ? "include: %d.yaml\n" : "noc: {rows: 8}\n", i + 1);
        write_text(name, text);
    }
    nuna_config_destroy(load("1.yaml"));
    expect_load_error("0.yaml", "16.yaml:1:10: include: files include each other more than 16 "
                                "levels deep");
}

static const struct bad_set {
    const char *key, *value, *origin;
    const char *message;
} bad_sets[] = {
    {"noc.hop_latency", "5", "--set",
     "--set noc.hop_latency=5: noc.hop_latency: \"5\" has no unit; expected a time with a unit, "
     "such as 12.8ns"},
    {"collective.size", "64gb", "--size",
     "--size 64gb: collective.size: \"64gb\" has the unit \"gb\", where b is bit (did you mean "
     "GB?); expected a size with a unit, such as 256B or 1MiB"},
    {"collective.size", "17TiB", "--size",
     "--size 17TiB: collective.size: \"17TiB\" is out of range; expected 0B to 16TiB"},
    {"noc.rows", "", "--set",
     "--set noc.rows=: noc.rows: no value; expected a whole number, such as 64"},
    {"noc.rowz", "5", "--set", "--set noc.rowz=5: noc.rowz: unknown key, did you mean noc.rows?"},
    {"nocc.rows", "5", "--set",
     "--set nocc.rows=5: nocc.rows: unknown key, did you mean noc.rows?"},
    {"hbm.rows", "5", "--set",
     "--set hbm.rows=5: hbm.rows: unknown key, rows belongs to section noc"},
    {"weather.rows", "5", "--set",
     "--set weather.rows=5: weather.rows: unknown key, did you mean noc.rows?"},
    {"rows", "5", "--set", "--set rows=5: rows: unknown key, did you mean noc.rows?"},
    {"noc", "5", "--set",
     "--set noc=5: noc: unknown key, expected section.key such as noc.hop_latency"},
    {"", "5", "--set", "--set =5: : unknown key, expected section.key such as noc.hop_latency"},
    {"a.b", "5", "--set", "--set a.b=5: a.b: unknown key, `nunasim params` lists all keys"},
    {"include", "a.yaml", "--set",
     "--set include=a.yaml: include: unknown key, expected section.key such as noc.hop_latency"},
};

Test(config, bad_sets)
{
    for (size_t i = 0; i < sizeof(bad_sets) / sizeof(bad_sets[0]); i++) {
        const struct bad_set *set = &bad_sets[i];
        struct nuna_config *config = create();
        struct nuna_error err = {0};
        cr_assert(!nuna_config_set(config, set->key, set->value, set->origin, &err));
        cr_assert_str_eq(err.message, set->message);
        cr_assert_eq(err.code, NUNA_EXIT_BAD_INPUT);
        nuna_config_destroy(config);
    }
}

Test(config, later_wins)
{
    write_text("f.yaml", "noc:\n  rows: 8\n");
    struct nuna_config *config = load("f.yaml");
    struct nuna_error err = {0};
    cr_assert(nuna_config_set(config, "noc.rows", "9", "--set", &err), "%s", err.message);
    cr_assert(nuna_config_set(config, "noc.rows", "10", "--set", &err), "%s", err.message);
    cr_assert_eq(nuna_config_params(config)->noc.rows, 10);
    /* A refused value leaves the old one. */
    cr_assert(!nuna_config_set(config, "noc.rows", "0", "--set", &err));
    cr_assert_eq(nuna_config_params(config)->noc.rows, 10);
    nuna_config_destroy(config);
}

/* Up to three settings and what nuna_config_check says; NULL is fine. */
static const struct check {
    const char *settings[3][2];
    const char *message;
} checks[] = {
    {{{NULL}}, NULL},
    {{{"noc.dies", "6"}}, NULL},
    {{{"noc.dies", "5"}},
     "--set noc.dies=5: noc.dies: 5 dies (noc.dies) do not divide 24 columns (noc.columns), expected "
     "the same number of columns on every die"},
    {{{"noc.columns", "25"}},
     "--set noc.columns=25: noc.columns: 4 dies (noc.dies) do not divide 25 columns (noc.columns), "
     "expected the same number of columns on every die"},
    {{{"noc.dies", "48"}},
     "--set noc.dies=48: noc.dies: 48 dies (noc.dies) do not divide 24 columns (noc.columns), "
     "expected the same number of columns on every die"},
    {{{"noc.control_size", "256B"}}, NULL},
    {{{"noc.control_size", "257B"}},
     "--set noc.control_size=257B: noc.control_size: control packets of 257B (noc.control_size), "
     "expected at most one flit, 256B (noc.flit_size)"},
    {{{"hbm.page_size", "2MiB"}}, NULL},
    {{{"hbm.page_size", "300B"}},
     "--set hbm.page_size=300B: hbm.page_size: pages of 300B (hbm.page_size), expected a multiple "
     "of the flit, 256B (noc.flit_size)"},
    {{{"noc.flit_size", "100B"}},
     "--set noc.flit_size=100B: noc.flit_size: pages of 4KiB (hbm.page_size), expected a multiple "
     "of the flit, 100B (noc.flit_size)"},
    {{{"hbm.stacks", "48"}}, NULL},
    {{{"hbm.stacks", "50"}},
     "--set hbm.stacks=50: hbm.stacks: 50 stacks put 25 on each long edge of the mesh, expected at "
     "most one for each of the 24 columns (noc.columns)"},
    {{{"hbm.stacks", "1"}}, NULL},
    {{{"hbm.stacks", "23"}}, NULL},
    {{{"hbm.stacks", "25"}},
     "--set hbm.stacks=25: hbm.stacks: 25 stacks put 25 on the upper edge of the mesh, expected at "
     "most one for each of the 24 columns (noc.columns)"},
    {{{"hbm.stacks", "256"}, {"noc.fabric", "uniform"}}, NULL},
    {{{"noc.columns", "4"}},
     "--set noc.columns=4: noc.columns: 16 stacks put 8 on each long edge of the mesh, expected at "
     "most one for each of the 4 columns (noc.columns)"},
    {{{"scaleup.ports", "1"}}, NULL},
    {{{"scaleup.ports", "2"}}, NULL},
    {{{"scaleup.ports", "3"}},
     "--set scaleup.ports=3: scaleup.ports: 3 ports are odd, expected 1 or an even number: half are "
     "on the left edge, half on the right"},
    {{{"scaleup.ports", "14"}},
     "--set scaleup.ports=14: scaleup.ports: 14 ports on the left and right edges, expected at most "
     "one on each edge for each of the 6 rows (noc.rows)"},
    {{{"noc.rows", "5"}},
     "--set noc.rows=5: noc.rows: 12 ports on the left and right edges, expected at most one on each "
     "edge for each of the 5 rows (noc.rows)"},
    {{{"scaleup.ports", "1"}, {"noc.rows", "1"}, {"hbm.stacks", "1"}}, NULL},
};

Test(config, checks)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct nuna_config *config = create();
        struct nuna_error err = {0};
        for (size_t j = 0; j < 3 && checks[i].settings[j][0] != NULL; j++)
            cr_assert(nuna_config_set(config, checks[i].settings[j][0], checks[i].settings[j][1],
                                      "--set", &err),
                      "%s", err.message);
        bool ok = nuna_config_check(config, &err);
        if (checks[i].message == NULL) {
            cr_assert(ok, "%s", err.message);
        } else {
            cr_assert(!ok, "accepted, expected: %s", checks[i].message);
            cr_assert_str_eq(err.message, checks[i].message);
            cr_assert_eq(err.code, NUNA_EXIT_BAD_INPUT);
        }
        nuna_config_destroy(config);
    }
}

Test(config, check_names_the_file)
{
    write_text("base.yaml", "noc:\n  columns: 20\n");
    write_text("f.yaml", "include: base.yaml\n\nnoc:\n  dies: 8\n");
    struct nuna_config *config = load("f.yaml");
    struct nuna_error err = {0};
    cr_assert(!nuna_config_check(config, &err));
    cr_assert_str_eq(err.message,
                     "f.yaml:4:9: noc.dies: 8 dies (noc.dies) do not divide 20 columns "
                     "(noc.columns), expected the same number of columns on every die");
    nuna_config_destroy(config);
}

static void write_effective(const struct nuna_config *config, const char *path)
{
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    cr_assert(nuna_config_write_effective(config, file));
    cr_assert_eq(fclose(file), 0);
}

/* The comments' column depends on the longest line of the whole table. */
static void squeeze_blanks(char *line)
{
    char *to = line + strspn(line, " ");
    for (const char *from = to; *from != '\0'; from++)
        if (*from != ' ' || from[1] != ' ')
            *to++ = *from;
    *to = '\0';
}

static void expect_line(const char *path, const char *expected)
{
    char line[256];
    bool found = false;
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        squeeze_blanks(line);
        found = found || strcmp(line, expected) == 0;
    }
    fclose(file);
    cr_assert(found, "no line \"%s\"", expected);
}

Test(config, effective_reloads)
{
    /* A name that would end the comment and start a key, were it copied as it is. */
    static const char evil[] = "a\nnoc: \xFF.yaml";
    write_text(evil, "noc:\n  hop_latency: 0.0123us\n  fabric: uniform\npod: {gpus: 7}\n");
    struct nuna_config *config = load(evil);
    struct nuna_error err = {0};
    cr_assert(nuna_config_set(config, "noc.link_rate", "801Gb/s", "--set", &err));
    cr_assert(nuna_config_set(config, "collective.size", "4294967297B", "--size", &err));
    write_effective(config, "effective.yaml");
    expect_line("effective.yaml", "  hop_latency: 12.3ns # a?noc: ?.yaml:2:16");
    expect_line("effective.yaml", "  fabric: uniform # a?noc: ?.yaml:3:11");
    expect_line("effective.yaml", "  link_rate: 100125MB/s # --set");
    expect_line("effective.yaml", "  size: 4294967297B # --size");
    expect_line("effective.yaml", "  columns: 24 # default");

    struct nuna_config *again = load("effective.yaml");
    cr_assert(memcmp(nuna_config_params(config), nuna_config_params(again),
                     sizeof(struct nuna_params)) == 0);
    for (size_t i = 0; i < nuna_param_count; i++) {
        char key[80];
        snprintf(key, sizeof(key), "%s.%s", nuna_param_table[i].section, nuna_param_table[i].field);
        cr_assert(nuna_config_is_set(again, key), "%s", key);
    }
    nuna_config_destroy(again);
    nuna_config_destroy(config);
}

Test(config, failed_write_is_told)
{
    struct nuna_config *config = create();
    FILE *file = fopen("/dev/full", "w");
    if (file != NULL) {
        cr_assert(!nuna_config_write_effective(config, file));
        fclose(file);
    }
    nuna_config_destroy(config);
}

Test(config, nearest)
{
    static const char *const names[] = {"noc", "gpu", "columns", "hop_latency"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"nco", "noc"},
        {"NOC", "noc"},
        {"nocs", "noc"},
        {"hbm", NULL},
        {"", NULL},
        {"x", NULL},
        {"colunms", "columns"},
        {"collumns", "columns"},
        {"hop_latancy", "hop_latency"},
        {"latency", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *nearest = nuna_nearest(cases[i].word, names, 4);
        if (cases[i].nearest == NULL)
            cr_assert(nearest == NULL, "%s", cases[i].word);
        else
            cr_assert(nearest != NULL && strcmp(nearest, cases[i].nearest) == 0, "%s",
                      cases[i].word);
    }
    char long_word[500];
    memset(long_word, 'a', sizeof(long_word) - 1);
    long_word[sizeof(long_word) - 1] = '\0';
    cr_assert(nuna_nearest(long_word, names, 4) == NULL);
}

Test(config, messages_are_cut_and_cleaned)
{
    struct nuna_error err = {0};
    char text[4000];
    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "\xC3\xBC", 2);
    text[sizeof(text) - 2] = '\0';
    cr_assert(!nuna_fail(&err, NUNA_EXIT_INTERNAL, "%s", text));
    cr_assert_eq(strlen(err.message), sizeof(err.message) - 2); /* no half character */
    nuna_fail(&err, NUNA_EXIT_BAD_INPUT, "a\x1B[31m\tb");
    cr_assert_str_eq(err.message, "a?[31m?b");
    nuna_fail(&err, NUNA_EXIT_BAD_INPUT, "again: %s", err.message);
    cr_assert_str_eq(err.message, "again: a?[31m?b");
}
