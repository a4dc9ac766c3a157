import { pathToFileURL } from 'node:url'

import { FileError } from './file-error.ts'
import type { FilesRoot } from './files-options.ts'

/** A path of a client that names an entry below a root, without a look at the file system. */
export interface RootedPath {
  readonly root: FilesRoot
  /** Names of entries; none for the root itself. */
  readonly parts: readonly string[]
  /** The path as the client gave it. */
  readonly given: string
}

const MAX_PATH_CHARACTERS = 4096
const MAX_NAME_BYTES = 255
const FORM = 'use ROOT/relative/path'

/**
 * Reads `ROOT/relative/path`, or a `file://` URI below a root. With one root its name may be left out. Throws `FileError` for
 * any path that could mean an entry outside the root on any system, also where this one would take it as a name.
 */
export function parsePath(
  roots: readonly FilesRoot[],
  given: string,
  maxDepth: number,
  platform = process.platform,
): RootedPath {
  if (given.length > MAX_PATH_CHARACTERS) {
    throw new FileError(given, `is longer than ${MAX_PATH_CHARACTERS} characters; ${FORM}`)
  }
  const path = /^file:/i.test(given) ? parseUri(roots, given) : parseRelative(roots, given)
  for (const part of path.parts) checkPart(part, given, platform)
  if (path.parts.length > maxDepth) {
    throw new FileError(given, `is deeper than ${maxDepth} folders; use a root further down`)
  }
  return path
}

/** The path of an entry in answers: the name of the root, then the names of the entries. */
export function showPath(root: FilesRoot, parts: readonly string[]): string {
  return [root.name, ...parts].join('/')
}

export function toUri(root: FilesRoot, parts: readonly string[]): string {
  const base = pathToFileURL(root.path).href.replace(/\/$/, '')
  return [base, ...parts.map((part) => encodeURIComponent(part))].join('/')
}

function parseRelative(roots: readonly FilesRoot[], given: string): RootedPath {
  if (given.startsWith('/')) throw new FileError(given, `is absolute; ${FORM}`)
  if (/^[a-z]:/i.test(given)) throw new FileError(given, `has a drive letter; ${FORM}`)
  const [first = '', ...rest] = given.replace(/\/$/, '').split('/')
  const parts = [first, ...rest].filter((part) => part !== '.')
  if (first === '~') throw new FileError(given, `"~" does not mean a home folder here; ${FORM}`)
  const named = roots.find(({ name }) => name === first)
  if (named !== undefined) return { root: named, parts: parts.slice(1), given }
  const [only, other] = roots
  if (only !== undefined && other === undefined) return { root: only, parts, given }
  const names = roots.map(({ name }) => name).join(', ')
  throw new FileError(given, `begins with none of the roots (${names}); ${FORM}`)
}

function parseUri(roots: readonly FilesRoot[], given: string): RootedPath {
  const raw = /^file:\/\/\/([^?#]*)$/i.exec(given)?.[1]
  if (raw === undefined) {
    throw new FileError(given, 'is no URI of the form file:///path, without a host, "?" and "#"')
  }
  const parts = raw
    .replace(/\/$/, '')
    .split('/')
    .map((part) => decodePart(part, given))
  for (const root of roots) {
    const rootParts = pathToFileURL(root.path)
      .pathname.split('/')
      .filter((part) => part !== '')
    const isBelow = rootParts.every((part, index) => decodeURIComponent(part) === parts[index])
    if (isBelow) return { root, parts: parts.slice(rootParts.length), given }
  }
  throw new FileError(given, `lies below none of the roots; ${FORM}`)
}

function decodePart(part: string, given: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // The error has no more to say.
    throw new FileError(given, 'has a percent sign that encodes no UTF-8; write "%25" for "%"')
  }
}

const CONTROL = /\p{Cc}/u
const WINDOWS_ONLY = /[:*?"<>|]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\.|$)/i

function checkPart(part: string, given: string, platform: NodeJS.Platform): void {
  const fault = findFault(part, platform)
  if (fault !== undefined) throw new FileError(given, `${fault}; ${FORM}`)
}

function findFault(part: string, platform: NodeJS.Platform): string | undefined {
  if (part === '') return 'has an empty name between slashes'
  if (CONTROL.test(part)) return 'has a control character'
  if (!part.isWellFormed()) return 'has half of a surrogate pair'
  if (/[/\\]/.test(part)) return 'has a slash or a backslash in a name'
  // Compatibility forms contain full-width dots and slashes, and leaders of two dots.
  if (part.normalize('NFKC').split(/[/\\]/).some(isDots)) return 'has a name of dots'
  if (Buffer.byteLength(part) > MAX_NAME_BYTES) return `has a name of over ${MAX_NAME_BYTES} bytes`
  if (platform === 'win32' && WINDOWS_ONLY.test(part)) return 'has a name that Windows reserves'
  return undefined
}

/** `..` with anything that a system may leave out: more dots, spaces, invisible characters. */
function isDots(name: string): boolean {
  return /^[.\s\p{Cf}]*$/u.test(name)
}
