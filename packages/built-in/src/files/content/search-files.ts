import { FileError, toFileError } from '../access/file-error.ts'
import type { FileTree } from '../access/file-tree.ts'
import { type RootedPath, showPath } from '../access/parse-path.ts'
import { toCursor } from './cursor.ts'
import type { LineSearch } from './line-search.ts'
import type { LineMatches } from './match-lines.ts'
import { readBytes } from './read-bytes.ts'
import { decodePage } from './text-page.ts'
import { type Entry, walkTree } from './walk-tree.ts'

export interface SearchOptions {
  readonly path: RootedPath
  readonly isMatch: (parts: readonly string[]) => boolean
  /** Undefined for a search by names alone. */
  readonly lines: LineSearch | undefined
  readonly after: readonly string[]
  readonly limit: number
  readonly signal: AbortSignal
}

export interface FoundFile {
  readonly path: string
  readonly type: string
  readonly matchCount?: number
  readonly matches?: LineMatches['first']
}

export interface SearchResult {
  readonly files: FoundFile[]
  /** Whether everything below the path was searched, with the pages before this one. */
  readonly isComplete: boolean
  readonly nextCursor?: string
  /** Why the result is not complete. */
  readonly notes: string[]
}

/** One page of a search. It ends early at a limit, and says so. */
export async function searchFiles(
  tree: FileTree,
  options: SearchOptions,
  stack: AsyncDisposableStack,
): Promise<SearchResult> {
  const search = new Search(tree, options)
  return search.run(stack)
}

class Search {
  readonly #tree: FileTree
  readonly #options: SearchOptions
  readonly #files: FoundFile[] = []
  readonly #notes = new Map<string, number>()
  readonly #startedAt = performance.now()
  #entries = 0
  #bytes = 0

  constructor(tree: FileTree, options: SearchOptions) {
    this.#tree = tree
    this.#options = options
  }

  async run(stack: AsyncDisposableStack): Promise<SearchResult> {
    const { path, after, limit, signal, isMatch } = this.#options
    const folder = await this.#tree.open(path, stack)
    this.#tree.checkFolder(folder, path.given)
    const { maxDepth, maxSearchEntries } = this.#tree.limits
    const walk = walkTree(this.#tree, folder, {
      depth: maxDepth - path.parts.length,
      after,
      limit: maxSearchEntries,
      given: path.given,
      signal,
      onUnreadable: () => this.#note('folders cannot be read'),
    })
    let last = after
    for await (const entry of walk) {
      const reached = this.#reachedLimit(limit)
      if (reached !== undefined) return this.#result(`${reached}; use nextCursor`, toCursor(last))
      last = entry.parts
      this.#entries += 1
      if (entry.type === 'folder' && entry.parts.length >= maxDepth - path.parts.length) {
        this.#note(`folders are deeper than ${maxDepth}`)
      }
      if (isMatch(entry.parts)) await this.#visit(entry)
    }
    return this.#result()
  }

  async #visit(entry: Entry): Promise<void> {
    const { path, lines } = this.#options
    const shown = showPath(path.root, [...path.parts, ...entry.parts])
    if (lines === undefined) {
      this.#files.push({ path: shown, type: entry.type })
      return
    }
    if (entry.type !== 'file') return
    const content = await this.#read(entry)
    if (content === undefined) return
    const { count, first } = await lines.find(content, this.#options.signal)
    if (count > 0) {
      this.#files.push({ path: shown, type: 'file', matchCount: count, matches: first })
    }
  }

  /** The text of a file. Undefined for a file that is no text. */
  async #read({ folder, name }: Entry): Promise<string | undefined> {
    const { path, signal } = this.#options
    const length = this.#tree.limits.maxSearchFileBytes
    await using stack = new AsyncDisposableStack()
    try {
      const place = await this.#tree.enter(folder, name, path.given, stack)
      const { bytes, size } = await readBytes(place, path.given, { offset: 0, length, signal })
      this.#bytes += bytes.length
      const page = decodePage(bytes, bytes.length >= size)
      if (page !== undefined && bytes.length < size) {
        this.#note(`files are longer than ${length} bytes, and only their beginning was searched`)
      }
      return page?.text
    } catch (error) {
      if (!(toFileError(error, path.given) instanceof FileError)) throw error
      this.#note('files cannot be read')
      return undefined
    }
  }

  #reachedLimit(limit: number): string | undefined {
    const { maxSearchEntries, maxSearchBytes, searchLimitMs } = this.#tree.limits
    if (this.#files.length >= limit) return `the page has ${limit} files`
    if (this.#entries >= maxSearchEntries) return `the search visited ${maxSearchEntries} entries`
    if (this.#bytes >= maxSearchBytes) return `the search read ${maxSearchBytes} bytes`
    const tookMs = performance.now() - this.#startedAt
    // The first entry is always visited, so that every page gets further.
    if (this.#entries > 0 && tookMs > searchLimitMs) return `the search took ${searchLimitMs} ms`
    return undefined
  }

  #note(problem: string): void {
    this.#notes.set(problem, (this.#notes.get(problem) ?? 0) + 1)
  }

  #result(reached?: string, nextCursor?: string): SearchResult {
    const counted = Array.from(this.#notes, ([problem, count]) => `${count} ${problem}`)
    const notes = reached === undefined ? counted : [reached, ...counted]
    return {
      files: this.#files,
      isComplete: notes.length === 0,
      ...(nextCursor === undefined ? {} : { nextCursor }),
      notes,
    }
  }
}
