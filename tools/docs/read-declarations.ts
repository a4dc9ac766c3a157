/** An exported declaration of a module, as in its formatted source. */
export interface Declaration extends Documented {
  readonly kind: string
  readonly name: string
  /** The public members of a class or interface. */
  readonly members: readonly Documented[]
}

interface Documented {
  readonly signature: string
  /** The first sentence of the description. */
  readonly summary: string
}

const EXPORT = /^export (?:abstract )?(?:async )?(class|interface|function|type|const) (\w+)/

/**
 * Finds the exported declarations of a module. Relies on the layout of the formatter: lines of a declaration are
 * indented, and lines of a member are indented further.
 */
export function readDeclarations(text: string): readonly Declaration[] {
  return blocksOf(text.split('\n'), '').flatMap(({ doc, lines }) => {
    const [, kind, name] = EXPORT.exec(lines[0] ?? '') ?? []
    if (kind === undefined || name === undefined) return []
    const isBody = kind === 'class' || kind === 'interface'
    const head = lines.slice(0, lines.findIndex((line) => line.endsWith('{')) + 1)
    const signature = kind === 'type' || kind === 'const' ? lines : head.length > 0 ? head : lines
    const inner = lines.slice(head.length, -1)
    const members = isBody ? membersOf(inner, kind) : []
    const shown = signatureOf(kind, signature)
    return [
      {
        kind,
        name,
        signature: shown.replace(/^export (abstract )?(async )?/, '').replace(/ \{$/, ''),
        summary: firstSentence(doc),
        members,
      },
    ]
  })
}

interface Block {
  readonly doc: readonly string[]
  readonly lines: readonly string[]
}

/** The declarations at an indentation, each with the comment before it. */
function blocksOf(lines: readonly string[], indent: string): readonly Block[] {
  const blocks: { doc: string[]; lines: string[] }[] = []
  let doc: string[] = []
  let isDoc = false
  for (const line of lines) {
    const isHere = line.startsWith(indent) && /^[^\s})\]|&>]/.test(line.slice(indent.length))
    const inside = line.slice(indent.length)
    if (isHere && inside.startsWith('/**')) {
      doc = []
      isDoc = true
    }
    if (isDoc) {
      doc.push(inside)
      isDoc = !inside.endsWith('*/')
    } else if (isHere && !inside.startsWith('//')) {
      blocks.push({ doc, lines: [line] })
      doc = []
    } else if (line.trim() !== '') {
      blocks.at(-1)?.lines.push(line)
    }
  }
  return blocks
}

function membersOf(lines: readonly string[], kind: string): readonly Documented[] {
  const members = blocksOf(lines, '  ').flatMap((block) => memberOf(block, kind))
  // The implementation of an overloaded function is not public, and has no description.
  return members.filter(({ signature, summary }, index) => {
    return summary !== '' || nameOf(signature) !== nameOf(members[index - 1]?.signature ?? '')
  })
}

const nameOf = (signature: string): string => signature.replace(/[(:<].*/, '')

function memberOf({ doc, lines }: Block, kind: string): readonly Documented[] {
  const [first = ''] = lines
  if (/^ *(static )?(async )?\*?(override )?(readonly )?#|^ *(private|static \{)/.test(first))
    return []
  // The line that opens the body: indented like the member, or the end of a result that is a union.
  const end = lines.findIndex((line) => line.endsWith(' {') && /^ {2}\S|^ {4}\|/.test(line))
  const isMethod = kind === 'class' && end !== -1
  const signature = inOneLine(isMethod ? lines.slice(0, end + 1) : lines)
    .replace(/^(override )?(async )?\*?/, '')
    .replace(isMethod ? / \{$/ : /;$/, '')
  return [{ signature, summary: firstSentence(doc) }]
}

function signatureOf(kind: string, lines: readonly string[]): string {
  if (kind === 'const') return (lines[0] ?? '').replace(/ =.*/, '')
  return kind === 'type' ? lines.join('\n') : inOneLine(lines)
}

function inOneLine(lines: readonly string[]): string {
  const trimmed = lines.map((line) => line.trim())
  return trimmed
    .map((line, index) => `${line}${isMemberBefore(line, trimmed[index + 1]) ? ';' : ''}`)
    .join(' ')
    .replaceAll(/([([]) /g, '$1')
    .replaceAll(/,? ([)\]])/g, '$1')
    .replaceAll(/< (.*) >/g, '<$1>')
    .replaceAll(/([:=]) \| /g, '$1 ')
}

/** Whether the two lines are members of an object type, which the formatter separates by their lines alone. */
function isMemberBefore(line: string, next: string | undefined): boolean {
  return next !== undefined && !/[{([<,|&=:]$|=>$/.test(line) && !/^[})\]>|&?]/.test(next)
}

function firstSentence(doc: readonly string[]): string {
  const text = doc
    .map((line) => line.replace(/^\s*\/?\*+\/?\s?/, '').replace(/\s*\*\/$/, ''))
    .join(' ')
    .trim()
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text
}
