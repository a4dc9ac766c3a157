import { stripVTControlCharacters } from 'node:util'

import type { Logger } from '../logger.ts'
import type { Mask } from '../process/mask-secrets.ts'

const MAX_LINES = 20
const MAX_CHARACTERS = 2000
const MAX_LINE_CHARACTERS = 300
const MAX_LOGGED_STDOUT = 200

/** Says where in a program it happened, and nothing of why: frames of a stack, markers, blank lines. */
const NOISE = /^(\s+at .*|\s*[\^~]*)$/

export interface ProcessOutputDeps {
  readonly logger: Logger
  readonly mask: Mask
}

/**
 * What the process of one server writes outside of the protocol: all of it goes to the log, and the last lines
 * are kept to explain a failure. Kept lines have no secrets of the server, no folders and no control characters.
 */
export class ProcessOutput {
  readonly #deps: ProcessOutputDeps
  #lines: string[] = []

  constructor(deps: ProcessOutputDeps) {
    this.#deps = deps
  }

  /** The last lines, the latest last: at most 20, and 2,000 characters. */
  get lastLines(): readonly string[] {
    return this.#lines
  }

  /** For the next process of the server: there is one at a time. */
  clear(): void {
    this.#lines = []
  }

  stderr(line: string): void {
    const { logger, mask } = this.#deps
    const masked = mask(line)
    logger.info({ action: 'stderr', stream: 'stderr' }, masked)
    this.#keep(masked)
  }

  /** A line on stdout that is no message. */
  stdout(line: string): void {
    const { logger, mask } = this.#deps
    const masked = mask(line)
    const output = masked.slice(0, MAX_LOGGED_STDOUT)
    logger.warn({ action: 'stdout', output }, 'not a message on stdout')
    this.#keep(masked)
  }

  #keep(masked: string): void {
    if (NOISE.test(masked)) return
    const line = withoutFolders(printable(masked)).slice(0, MAX_LINE_CHARACTERS).toWellFormed()
    this.#lines.push(line)
    let length = this.#lines.reduce((sum, each) => sum + each.length, 0)
    while (this.#lines.length > MAX_LINES || length > MAX_CHARACTERS) {
      length -= this.#lines.shift()?.length ?? 0
    }
  }
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
