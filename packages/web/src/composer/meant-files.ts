type Given = Pick<DataTransfer, 'getData'> & { readonly files: Iterable<File> }

/** The name that browsers give to a picture of a clipboard, which has none. */
const NO_NAME = /^image\.\w+$/
/** Elements of HTML, and those texts in it that are not shown. */
const UNSEEN = /<!--.*?-->|<(style|script|title)\b.*?<\/\1\s*>|<[^>]*>|&nbsp;/gis

/**
 * The files that the user means by a clipboard or a drop; none where its text is meant. Programs give one thing in several
 * forms: cells of a spreadsheet as text and as a picture of it, a picture of a page with its address, a file with its name.
 */
export function meantFiles(given: Given): readonly File[] {
  const files = Array.from(given.files)
  const isPictures = files.every(({ type }) => type.startsWith('image/'))
  if (isPictures && hasOwnText(given, files)) return []
  return files.length > 0 && isPictures && files.every(({ name }) => NO_NAME.test(name))
    ? files.slice(0, 1)
    : files
}

/** Whether there is a text that is more than the names or the address of the files. */
function hasOwnText(given: Given, files: readonly File[]): boolean {
  const lines = given
    .getData('text/plain')
    .trim()
    .split(/\s*[\r\n]+\s*/)
  const names = new Set(files.flatMap(({ name }) => [name, name.replace(/\.[^.]*$/, '')]))
  if (lines.every((line) => line === '' || names.has(lastPart(line)))) return false
  const html = given.getData('text/html')
  if (html !== '') return html.replaceAll(UNSEEN, '').trim() !== ''
  return lines.length > 1 || !/^(?:https?|file|data|blob):\S+$/i.test(lines[0] ?? '')
}

/** The last part of a path or an address. */
function lastPart(line: string): string {
  const part = line.split(/[/\\]/).at(-1) ?? ''
  try {
    return decodeURIComponent(part)
  } catch {
    // A name may have any percent sign.
    return part
  }
}
