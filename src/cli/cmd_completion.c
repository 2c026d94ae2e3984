/* Completion for bash, made from the tables of verbs, options and parameters. */
#include "cli/cmd_completion.h"
#include "cli/common/messages.h"
#include "core/params.h"
#include <stdio.h>
#include <string.h>

static const char head[] =
    "# Completion of nunasim for bash: source it, or put it where bash-completion looks.\n"
    "_nunasim() {\n"
    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=run key= words= how=\n";

/* bash splits at "=": what stands before it is the option or the key. */
static const char split[] =
    "  if [ \"$cur\" = = ]; then\n"
    "    cur=\n"
    "    key=$prev prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "  elif [ \"$prev\" = = ]; then\n"
    "    key=${COMP_WORDS[COMP_CWORD - 2]} prev=${COMP_WORDS[COMP_CWORD - 3]}\n"
    "  fi\n"
    "  case $key in --*) prev=$key key= ;; esac\n"
    "  if [ \"$COMP_CWORD\" -gt 1 ]; then\n"
    "    case ${COMP_WORDS[1]} in -*) ;; *) verb=${COMP_WORDS[1]} ;; esac\n"
    "  fi\n"
    "  if [ -n \"$key\" ]; then\n"
    "    case $key in\n";

static const char tail[] =
    "    esac\n"
    "  fi\n"
    "  case $how in\n"
    "    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "    folder) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "    free) COMPREPLY=() ;;\n"
    "    *)\n"
    "      [ \"$how\" != key ] || compopt -o nospace\n"
    "      mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
    "      ;;\n"
    "  esac\n"
    "}\n"
    "complete -F _nunasim nunasim\n";

/* "a|b" with blanks between. */
static void print_words(const char *words)
{
    for (; *words != '\0'; words++)
        putchar(*words == '|' ? ' ' : *words);
}

static void print_keys(void)
{
    for (size_t i = 0; i < nuna_param_count; i++)
        printf("%s%s.%s=", i ? " " : "", nuna_param_table[i].section, nuna_param_table[i].field);
}

static void print_keyword(const char *key)
{
    for (size_t i = 0; i < nuna_param_count; i++) {
        const struct nuna_param_desc *row = &nuna_param_table[i];
        size_t length = strlen(row->section);
        if (strncmp(key, row->section, length) == 0 && key[length] == '.' &&
            strcmp(key + length + 1, row->field) == 0)
            print_words(row->words);
    }
}

static void print_sections(void)
{
    const char *last = "";
    for (size_t i = 0; i < nuna_param_count; i++) {
        const char *section = nuna_param_table[i].section;
        if (strcmp(section, last) != 0)
            printf("%s%s", i ? " " : "", section);
        last = section;
    }
}

static void print_verbs(struct nuna_verbs verbs)
{
    for (size_t i = 0; i < verbs.count; i++)
        printf("%s%s", i ? " " : "", verbs.items[i]->name);
}

static void print_values(struct nuna_verbs verbs, enum nuna_opt_values values, const char *words)
{
    switch (values) {
    case NUNA_VALUES_FREE:
        printf("how=free");
        return;
    case NUNA_VALUES_FILE:
        printf("how=file");
        return;
    case NUNA_VALUES_FOLDER:
        printf("how=folder");
        return;
    case NUNA_VALUES_KEY:
        printf("how=key words=$keys");
        return;
    case NUNA_VALUES_WORDS:
        printf("words='");
        print_words(words);
        break;
    case NUNA_VALUES_KEYWORD:
        printf("words='");
        print_keyword(words);
        break;
    case NUNA_VALUES_SECTION:
        printf("words='");
        print_sections();
        break;
    case NUNA_VALUES_VERB:
        printf("words='");
        print_verbs(verbs);
        break;
    }
    putchar('\'');
}

/* What follows an option, else options, else the operand. */
static void print_verb(const struct nuna_verb *verb, struct nuna_verbs verbs)
{
    printf("    %s)\n      case $prev in\n", verb->name);
    for (size_t i = 0; i < verb->options.count; i++) {
        const struct nuna_opt *opt = &verb->options.rows[i];
        if (opt->kind == NUNA_OPT_FLAG)
            continue;
        printf("        --%s) ", opt->name);
        print_values(verbs, opt->values, opt->words);
        printf(" ;;\n");
    }
    printf("        *)\n          case $cur in\n            -*) words='");
    for (size_t i = 0; i < verb->options.count; i++)
        printf("--%s ", verb->options.rows[i].name);
    printf("--help' ;;\n            *) ");
    if (verb->operand != NULL)
        print_values(verbs, verb->operand_values, verb->operand_words);
    printf(" ;;\n          esac\n          ;;\n      esac\n      ;;\n");
}

static void print_bash(struct nuna_verbs verbs)
{
    fputs(head, stdout);
    printf("  local keys='");
    print_keys();
    printf("'\n");
    fputs(split, stdout);
    for (size_t i = 0; i < nuna_param_count; i++) {
        const struct nuna_param_desc *row = &nuna_param_table[i];
        if (row->words[0] == '\0')
            continue;
        printf("      %s.%s) words='", row->section, row->field);
        print_words(row->words);
        printf("' ;;\n");
    }
    printf("      *) how=free ;;\n    esac\n"
           "  elif [ \"$COMP_CWORD\" = 1 ] && [ \"${cur:0:1}\" != - ]; then\n    words='");
    print_verbs(verbs);
    printf("'\n  else\n    case $verb in\n");
    for (size_t i = 0; i < verbs.count; i++)
        print_verb(verbs.items[i], verbs);
    fputs(tail, stdout);
}

static int run(struct nuna_call *call)
{
    struct nuna_error err;
    if (call->operand == NULL || strcmp(call->operand, "bash") != 0) {
        nuna_fail(&err, NUNA_EXIT_BAD_INPUT, "completion: %s%.40s%s, expected bash",
                  call->operand ? "\"" : "the shell is missing", call->operand ? call->operand : "",
                  call->operand ? "\" is not known" : "");
        return nuna_cli_report(&err);
    }
    print_bash(call->verbs);
    return NUNA_EXIT_OK;
}

const struct nuna_verb nuna_verb_completion = {
    .name = "completion",
    .summary = "print what lets a shell complete this command: completion bash",
    .synopsis = "completion bash",
    .about = "Prints a script for bash, made from the same tables as this help. To have completion "
             "in\nthis shell: source <(nunasim completion bash)",
    .operand = "SHELL",
    .operand_values = NUNA_VALUES_WORDS,
    .operand_words = "bash",
    .run = run,
};
