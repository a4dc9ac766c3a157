import { stripVTControlCharacters } from 'node:util'

import type { LineQuota } from '../intake/line-quota.ts'
import type { Logger } from '../logger.ts'
import type { Mask } from '../process/mask-secrets.ts'

const MAX_LINES = 20
const MAX_CHARACTERS = 2000
const MAX_LINE_CHARACTERS = 300
const MAX_LOGGED_STDOUT = 200
/** The length of a logged line of stderr, in UTF-16 units. */
const MAX_LOGGED_STDERR = 2000

/** Says where in a program it happened, and nothing of why: frames of a stack, markers, blank lines. */
const NOISE = /^(\s+at .*|\s*[\^~]*)$/

export interface ProcessOutputDeps {
  readonly logger: Logger
  readonly mask: Mask
  /** Limits the logged part. */
  readonly quota: Pick<LineQuota, 'take' | 'leaveOut'>
}

/**
 * The output of one server's process outside of the protocol: it is logged within limits, and the last lines are kept
 * to explain a failure. Kept lines have no secrets of the server, no folders and no control characters.
 */
export class ProcessOutput {
  readonly #deps: ProcessOutputDeps
  #lines: string[] = []

  constructor(deps: ProcessOutputDeps) {
    this.#deps = deps
  }

  /** The last lines, the latest last: at most 20, and 2,000 characters. */
  get lastLines(): readonly string[] {
    const lines = this.#lines.map((line) => this.#shown(line))
    let length = lines.reduce((sum, each) => sum + each.length, 0)
    while (length > MAX_CHARACTERS) length -= lines.shift()?.length ?? 0
    return lines
  }

  /** For the next process of the server: there is one at a time. */
  clear(): void {
    this.#lines = []
  }

  /** `false`: it is too much for the log. */
  stderr(line: string): boolean {
    const { logger, mask, quota } = this.#deps
    this.#keep(line)
    if (!quota.take()) return false
    const text = shorten(mask(line), MAX_LOGGED_STDERR)
    logger.info({ action: 'stderr', stream: 'stderr' }, text)
    return true
  }

  /** Counts lines of stderr that were not even read. */
  leaveOut(lines: number): void {
    this.#deps.quota.leaveOut(lines)
  }

  /** A line on stdout that is no message. */
  stdout(line: string): void {
    const { logger, mask, quota } = this.#deps
    this.#keep(line)
    if (!quota.take()) return
    const output = mask(line).slice(0, MAX_LOGGED_STDOUT)
    logger.warn({ action: 'stdout', output }, 'not a message on stdout')
  }

  /** Stored raw: most lines are never read. */
  #keep(line: string): void {
    if (NOISE.test(line)) return
    this.#lines.push(line)
    if (this.#lines.length > MAX_LINES) this.#lines.shift()
  }

  #shown(line: string): string {
    const text = withoutFolders(printable(this.#deps.mask(line)))
    return text.slice(0, MAX_LINE_CHARACTERS).toWellFormed()
  }
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length).toWellFormed()}…`
}

function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trimEnd()
}

const FOLDERS = /(?<![\w.:/~@-])\/(?:[^\s/:'"`()]+\/)+(?=[^\s/])/g
const FOLDERS_WINDOWS = /\b[A-Za-z]:\\(?:[^\s\\:'"`()]+\\)+/g

/** Paths as the names of their files: callers elsewhere have no business with the folders of this machine. */
function withoutFolders(text: string): string {
  return text
    .replaceAll(/file:\/\/(?=\/)/g, '')
    .replaceAll(FOLDERS, '…/')
    .replaceAll(FOLDERS_WINDOWS, '…\\')
}
