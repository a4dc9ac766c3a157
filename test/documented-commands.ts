import { spawnSync } from 'node:child_process'

/** A fenced block of a document. */
export interface Block {
  readonly language: string
  readonly text: string
}

export interface DocumentedCommand {
  readonly text: string
  /** The output that the document shows. */
  readonly expected: readonly string[]
}

export function blocksOf(markdown: string): Block[] {
  const fences = markdown.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms)
  return Array.from(fences, ([, language = '', text = '']) => ({ language, text }))
}

/** The commands of a document in order: lines of shell blocks, and programs for Node. */
export function commandsOf(markdown: string): DocumentedCommand[] {
  return blocksOf(markdown).flatMap(({ language, text }) => {
    if (language === 'console') return shellCommands(text, '$ ')
    if (language === 'sh') return shellCommands(text, '')
    return language === 'js' && text.startsWith('import ') ? [nodeProgram(text)] : []
  })
}

/** The commands after the prompt. Other lines are output; without a prompt, output is in comments. */
function shellCommands(text: string, prompt: string): DocumentedCommand[] {
  const commands: { text: string; expected: string[] }[] = []
  let open = ''
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const isOutput = prompt === '' ? line.startsWith('# ') : !line.startsWith(prompt)
    if (open === '' && isOutput) {
      commands.at(-1)?.expected.push(prompt === '' ? line.slice(2) : line)
      continue
    }
    open += open === '' ? line.slice(prompt.length) : `\n${line}`
    if (!isComplete(open)) continue
    commands.push({ text: open, expected: [] })
    open = ''
  }
  return commands
}

function isComplete(command: string): boolean {
  return !command.endsWith('\\') && spawnSync('bash', ['-n', '-c', command]).status === 0
}

function nodeProgram(code: string): DocumentedCommand {
  const expected = Array.from(
    code.matchAll(/console\.log\(.*\/\/ (.*)$/gm),
    ([, text = '']) => text,
  )
  return { text: `node --input-type=module - <<'END'\n${code}END`, expected }
}
