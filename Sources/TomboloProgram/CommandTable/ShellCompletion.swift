/// Completions for bash and zsh, made from the table: commands, flags, and the values of flags.
struct ShellCompletion: Sendable {
    private let table: CommandTable
    private let shell: String

    init(table: CommandTable, shell: String) {
        self.table = table
        self.shell = shell
    }

    var text: String { shell == "zsh" ? zsh : bash }

    private var groups: [String] { table.firstWords.filter { table.isGroup([$0]) } }

    // MARK: bash

    private var bash: String {
        """
        # bash completion for tombolo: source <(tombolo completion bash)
        _tombolo() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
            local command=${COMP_WORDS[1]:-} words=""
            COMPREPLY=()
            if [ "$COMP_CWORD" -eq 1 ]; then
                mapfile -t COMPREPLY < <(compgen -W "\(table.firstWords.joined(separator: " "))" -- "$current")
                return
            fi
            case "$command" in
            \(groups.joined(separator: "|")))
                if [ "$COMP_CWORD" -eq 2 ]; then
                    case "$command" in
        \(groups.map(bashGroup).joined())            esac
                    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
                    return
                fi
                command="$command ${COMP_WORDS[2]:-}" ;;
            esac
            case "$command $previous" in
        \(table.commands.flatMap(bashValues).joined())    esac
            case "$command" in
        \(table.commands.map(bashFlags).joined())    esac
            case "$current" in
            -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
            *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
            esac
        }
        complete -o filenames -F _tombolo tombolo

        """
    }

    private func bashGroup(_ group: String) -> String {
        "            \(group)) words=\"\(table.members(of: group).joined(separator: " "))\" ;;\n"
    }

    private func bashFlags(_ command: Subcommand) -> String {
        let flags = command.flags.map { "--\($0.name)" } + ["--help"]
        let choices = command.arguments.compactMap { argument in
            guard case .choice(let words) = argument.value else { return nil as String? }
            return "        case \"$current\" in -*) ;; *) mapfile -t COMPREPLY < "
                + "<(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\"); return ;; esac\n"
        }
        return "    \"\(command.name)\")\n        words=\"\(flags.joined(separator: " "))\"\n"
            + choices.joined() + "        ;;\n"
    }

    private func bashValues(_ command: Subcommand) -> [String] {
        command.flags.compactMap { flag in
            guard let kind = flag.value else { return nil }
            let spellings =
                (["--\(flag.name)"] + (flag.short.map { ["-\($0)"] } ?? []))
                .map { "\"\(command.name) \($0)\"" }.joined(separator: "|")
            let generator =
                switch kind {
                case .choice(let words): "compgen -W \"\(words.joined(separator: " "))\""
                case .directory: "compgen -d"
                case .file: "compgen -f"
                default: ":"
                }
            return "    \(spellings)) mapfile -t COMPREPLY < <(\(generator)"
                + (generator == ":" ? "" : " -- \"$current\"") + "); return ;;\n"
        }
    }

    // MARK: zsh

    private var zsh: String {
        let firsts = table.firstWords.map { word in
            let summary = table.commands.first { $0.path == [word] }?.summary
            return "        '\(word)\(summary.map { ":\(quoted($0))" } ?? "")'\n"
        }
        return """
            #compdef tombolo
            # zsh completion for tombolo: tombolo completion zsh >"${fpath[1]}/_tombolo"
            _tombolo() {
                local command=$words[2] skip=2
                if (( CURRENT == 2 )); then
                    local -a commands=(
            \(firsts.joined())        )
                    _describe command commands
                    return
                fi
                case $command in
            \(groups.map(zshGroup).joined())    esac
                shift $(( skip - 1 )) words
                (( CURRENT -= skip - 1 ))
                case $command in
            \(table.commands.map(zshFlags).joined())    esac
            }
            _tombolo "$@"

            """
    }

    private func zshGroup(_ group: String) -> String {
        let members = table.members(of: group).joined(separator: " ")
        return "    \(group))\n"
            + "        if (( CURRENT == 3 )); then compadd -- \(members); return; fi\n"
            + "        command=\"$command $words[3]\" skip=3 ;;\n"
    }

    private func zshFlags(_ command: Subcommand) -> String {
        var specifications = command.flags.map { flag -> String in
            let value = flag.value.map { ":\(flag.name):\(zshAction($0))" } ?? ""
            return "'\(flag.repeats ? "*" : "")--\(flag.name)[\(quoted(flag.summary))]\(value)'"
        }
        for argument in command.arguments {
            specifications.append(
                "'\(argument.repeats ? "*" : argument.isOptional ? ":" : "")"
                    + ":\(quoted(argument.name)):\(zshAction(argument.value))'")
        }
        let lines = specifications.map { "            \($0)" }.joined(separator: " \\\n")
        return "    \"\(command.name)\")\n        _arguments -s \\\n\(lines) ;;\n"
    }

    private func zshAction(_ kind: ValueKind) -> String {
        switch kind {
        case .choice(let words): "(\(words.joined(separator: " ")))"
        case .file: "_files"
        case .directory: "_files -/"
        default: " "
        }
    }

    /// Escapes the characters that would end a zsh word or a part of a specification.
    private func quoted(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "'": result += "'\\''"
            case ":", "[", "]": result += "\\\(character)"
            default: result.append(character)
            }
        }
        return result
    }
}
