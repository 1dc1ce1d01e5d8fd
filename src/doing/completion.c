#include "doing/completion.h"

#include "doing/command.h"

#include <string.h>

/* What the words and values of command lines name, by how help calls them: a kind of names, "files" or "folders". */
static const char *kind_of(const struct command *command, const struct option *option, const char *word, size_t size)
{
    static const struct { const char *word, *kind; } kinds[] = {
        {"MODEL", "models"}, {"OTHER", "models"}, {"A", "models"}, {"B", "models"}, {"IN", "models"}, {"SPLIT", "splits"}, {"NAME[,NAME]", "splits"},
        {"SPLIT:N", "rows"}, {"RECIPE", "recipes"}, {"RUN", "runs"}, {"COMMAND", "commands"}, {"FAMILY", "families"}, {"SIZE", "sizes"},
        {"KIND", "figures"}, {"EDIT", "edits"}, {"AXIS", "axes"}, {"ID", "replications"}, {"'PROBE", "measurements"}, {"'PROBE ...'", "measurements"},
        {"FILE", "files"}, {"FILE.tsv", "files"}, {"TABLE", "files"}, {"LOG", "files"}, {"OUT", "folders"}, {"FOLDER", "folders"},
        {"CASE_DIR", "folders"}, {"DIR", "folders"},
    };
    if (size == 3 && !strncmp(word, "DIR", size) && (option ? !strcmp(option->name, "data") : command->of != NULL)) return "datasets";
    if (size == 4 && !strncmp(word, "NAME", size) && !strcmp(command->name, "view")) return "views";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].word) == size && !strncmp(kinds[i].word, word, size)) return kinds[i].kind;
    return "nothing";
}

static void add_name(const struct command *command, struct text *out)
{
    text_add(out, "%s%s%s", command->of ? command->of->name : "", command->of ? " " : "", command->name);
}

/* Does something with every command, verbs included. */
static void walk(void (*visit)(const struct command *command, struct text *out), struct text *out)
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++) {
        struct command verb = {0};
        visit(command, out);
        for (size_t v = 0; command->verb && command->verb(command, v, &verb); v++, verb = (struct command){0}) visit(&verb, out);
    }
}

/* 'sweep --norm') found='rms match l2 none' ;;      'sweep --split') kind=splits ;; */
static void add_values(const struct command *command, struct text *out)
{
    for (const struct option *o = command->options; o && o->name; o++) {
        if (o->kind == OPTION_FLAG) continue;
        text_add(out, "        '");
        add_name(command, out);
        text_add(out, " --%s'", o->name);
        if (o->letter) text_add(out, "|'"), add_name(command, out), text_add(out, " -%c'", o->letter);
        if (o->kind != OPTION_CHOICE) {
            text_add(out, ") kind=%s ;;\n", o->placeholder ? kind_of(command, o, o->placeholder, strlen(o->placeholder)) : "nothing");
            continue;
        }
        text_add(out, ") found='");
        for (const char *c = o->choices; *c; c++) text_add(out, "%c", *c == '|' ? ' ' : *c);
        text_add(out, "' ;;\n");
    }
}

/* 'compare 2') kind=models ;;      'data 1') found='check rows khop' ;; */
static void add_places(const struct command *command, struct text *out)
{
    size_t place = 1;
    struct command verb = {0};
    if (command->verb) {
        text_add(out, "        '%s 1') found='", command->name);
        for (size_t i = 0; command->verb(command, i, &verb); i++, verb = (struct command){0}) text_add(out, "%s%s", i ? " " : "", verb.name);
        text_add(out, "' ;;\n");
        return;
    }
    for (const char *word = command->words; word && *word; place++) {
        word += strspn(word, "[ ");
        size_t size = strcspn(word, "] ");
        if (size && !text_starts(word, "...")) {
            text_add(out, "        '");
            add_name(command, out);
            text_add(out, " %zu') kind=%s ;;\n", place, kind_of(command, NULL, word, size));
        }
        word += size + strspn(word + size, "] ");
    }
}

static void add_options(const struct command *command, struct text *out)
{
    if (!command->options || !command->options->name) return;
    text_add(out, "        '");
    add_name(command, out);
    text_add(out, "') found='");
    for (const struct option *o = command->options; o->name; o++) text_add(out, "%s--%s", o == command->options ? "" : " ", o->name);
    text_add(out, "' ;;\n");
}

static void add_with_verbs(const struct command *command, struct text *out)
{
    if (command->verb) text_add(out, "%s%s", text_ends(out->data, "case \"$command\" in ") ? "" : "|", command->name);
}

/* The same shell code for both: the words of the line, the unfinished one last, into $kind, $found and what files may stand there. */
static void add_thinking(struct text *out)
{
    text_add(out,
             "_loopscope_think() {\n"
             "    local command= place=0 option= model= data= word\n"
             "    kind= found=\n"
             "    while [ $# -gt 1 ]; do\n"
             "        word=$1\n"
             "        shift\n"
             "        if [ -z \"$command\" ]; then\n"
             "            case \"$word\" in --threads) option=$word ;; -*) ;; *) if [ -z \"$option\" ]; then command=$word; fi; option= ;; esac\n"
             "        elif [ -n \"$option\" ]; then\n"
             "            if [ \"$option\" = --data ]; then data=$word; fi\n"
             "            option=\n"
             "        else\n"
             "            case \"$word\" in\n"
             "                --data=*) data=${word#--data=} ;;\n"
             "                -*=*) ;;\n"
             "                -*) if _loopscope_value \"$command\" \"$word\"; then option=$word; fi ;;\n"
             "                *)\n"
             "                    place=$((place + 1))\n"
             "                    if [ \"$place\" = 1 ]; then\n"
             "                        case \"$command\" in ");
    walk(add_with_verbs, out);
    text_add(out,
             ") command=\"$command $word\" place=0 ;; *) model=$word ;; esac\n"
             "                    fi ;;\n"
             "            esac\n"
             "        fi\n"
             "    done\n"
             "    kind= found=\n"
             "    if [ -n \"$option\" ]; then _loopscope_value \"$command\" \"$option\"\n"
             "    else\n"
             "        case \"$command:$1\" in\n"
             "            :-*) found='--help --version' ;;\n"
             "            :*) kind=models found=$_loopscope_names ;;\n"
             "            *:-*) _loopscope_options \"$command\"; found=\"$found --json --tsv --threads --quiet --help\" ;;\n"
             "            *) _loopscope_place \"$command\" $((place + 1)) ;;\n"
             "        esac\n"
             "    fi\n"
             "    case \"$kind\" in\n"
             "        ''|files|folders|nothing) ;;\n"
             "        splits|rows|sizes) found=$(\"$program\" help --names \"$kind\" ${model:+\"$model\"} ${data:+\"$data\"} 2>/dev/null) ;;\n"
             "        *) found=\"$found $(\"$program\" help --names \"$kind\" 2>/dev/null)\" ;;\n"
             "    esac\n"
             "    case \"$kind\" in models|datasets|recipes|runs|files|folders) files=yes ;; *) files= ;; esac\n"
             "}\n");
}

static void add_function(const char *name, void (*visit)(const struct command *, struct text *), const char *switched, const char *otherwise,
                         struct text *out)
{
    text_add(out, "%s() {\n    case \"%s\" in\n", name, switched);
    walk(visit, out);
    text_add(out, "        %s\n    esac\n}\n", otherwise);
}

static const char bash_end[] =
    "_loopscope() {\n"
    "    local program=\"${COMP_WORDS[0]}\" kind found files list=() line=\"${COMP_LINE:0:COMP_POINT}\" here=\"${COMP_WORDS[COMP_CWORD]}\" part=\n"
    "    read -ra list <<<\"$line\"\n"
    "    case \"$line\" in *[[:space:]]) list+=('') ;; esac\n"
    "    local current=\"${list[${#list[@]}-1]}\"\n"
    "    case \"$current\" in\n" /* --name=value: the value is what is completed */
    "        --*=*) list[${#list[@]}-1]=\"${current%%=*}\" current=\"${current#*=}\" && list+=(\"$current\") ;;\n"
    "    esac\n"
    "    _loopscope_think \"${list[@]:1}\"\n"
    "    case \"$kind:$current\" in splits:*,*) part=\"${current%,*},\" ;; esac\n"
    "    COMPREPLY=($(compgen -P \"$part\" -W \"$found\" -- \"${current#\"$part\"}\"))\n"
    "    if [ \"$files\" ]; then COMPREPLY+=($(compgen -f -- \"$current\")) && compopt -o filenames; fi\n"
    "    case \"$here\" in [=:@]) here= ;; esac\n" /* bash replaces only what stands behind the last of these */
    "    local before=\"${current%\"$here\"}\" i\n"
    "    for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=\"${COMPREPLY[i]#\"$before\"}\"; done\n"
    "    case \"${COMPREPLY[0]}\" in *[.:=]) compopt -o nospace ;; esac\n"
    "}\n"
    "complete -F _loopscope loopscope\n";

static const char zsh_end[] =
    "_loopscope() {\n"
    "    local program=\"${words[1]}\" kind found files current=\"${words[CURRENT]}\"\n"
    "    local -a list=(\"${(@)words[2,CURRENT]}\") plain open\n"
    "    if [[ \"$current\" == --*=* ]]; then\n"
    "        list[-1]=(\"${current%%=*}\" \"${current#*=}\")\n"
    "        compset -P '*='\n"
    "    fi\n"
    "    _loopscope_think \"${list[@]}\"\n"
    "    [[ \"$kind\" == splits ]] && compset -P '*,'\n"
    "    plain=(${=found}) open=(${(M)plain:#*[.:=]}) plain=(${plain:#*[.:=]})\n"
    "    (( $#plain )) && compadd -- $plain\n"
    "    (( $#open )) && compadd -S '' -- $open\n"
    "    [[ -n \"$files\" ]] && _files\n"
    "    return 0\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _loopscope ]; then _loopscope \"$@\"; else compdef _loopscope loopscope; fi\n";

bool completion_script(const char *shell, struct text *out)
{
    const struct command *command;
    bool zsh = !strcmp(shell, "zsh");
    if (!zsh && strcmp(shell, "bash") != 0) return false;
    if (zsh) text_add(out, "#compdef loopscope\n");
    text_add(out, "# made by: loopscope help --completion %s\n_loopscope_names='tui", shell);
    for (size_t i = 0; (command = command_at(i)); i++) text_add(out, " %s", command->name);
    text_add(out, "'\n");
    add_function("_loopscope_value", add_values, "$1 $2", "*' --threads') kind=nothing ;;\n        *) return 1 ;;", out);
    add_function("_loopscope_place", add_places, "$1 $2", "'tui 1') kind=models ;;\n        *) kind=nothing ;;", out);
    add_function("_loopscope_options", add_options, "$1", "*) ;;", out);
    add_thinking(out);
    text_add(out, "%s", zsh ? zsh_end : bash_end);
    return true;
}
