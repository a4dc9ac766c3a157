import { stripVTControlCharacters } from 'node:util'

import type { LineQuota } from '../intake/line-quota.ts'
import type { Logger } from '@mcp-host/process'
import type { Mask } from '../errors/mask-secrets.ts'

const MAX_LINES = 20
const MAX_CHARACTERS = 2000
const MAX_LINE_CHARACTERS = 300
const MAX_LOGGED_STDOUT = 200
/** The length of a logged line of stderr, in UTF-16 units. */
const MAX_LOGGED_STDERR = 2000

/** Lines that do not explain a failure: stack frames, markers, blank lines. */
const NOISE = /^(\s+at .*|\s*[\^~]*)$/

export interface ProcessOutputDeps {
  readonly logger: Logger
  readonly mask: Mask
  /** Limits the logged part. */
  readonly quota: Pick<LineQuota, 'take' | 'leaveOut'>
}

/**
 * The output of one server's process outside of the protocol: logs it within limits, and stores the last lines to
 * explain a failure. They contain no secrets of the server, no folders and no control characters.
 */
export class ProcessOutput {
  readonly #deps: ProcessOutputDeps
  #lines: string[] = []
  #hasStdout = false

  constructor(deps: ProcessOutputDeps) {
    this.#deps = deps
  }

  /** The last lines in order: at most 20 with 2,000 characters. */
  get lastLines(): readonly string[] {
    const lines = this.#lines.map((line) => this.#shown(line))
    let length = lines.reduce((sum, each) => sum + each.length, 0)
    while (length > MAX_CHARACTERS) length -= lines.shift()?.length ?? 0
    return lines
  }

  /** Whether a line of stdout was no message. */
  get hasStdout(): boolean {
    return this.#hasStdout
  }

  /** Drops the lines of the former process. */
  clear(): void {
    this.#lines = []
    this.#hasStdout = false
  }

  /** Handles a line of stderr. Returns `false` when there are too many for the log. */
  stderr(line: string): boolean {
    const { logger, mask, quota } = this.#deps
    this.#store(line)
    if (!quota.take()) return false
    const text = mask(line)
    const isLong = text.length > MAX_LOGGED_STDERR
    const shown = isLong ? `${text.slice(0, MAX_LOGGED_STDERR).toWellFormed()}…` : text
    logger.info({ action: 'stderr', stream: 'stderr' }, shown)
    return true
  }

  /** Counts unread lines of stderr. */
  leaveOut(lines: number): void {
    this.#deps.quota.leaveOut(lines)
  }

  /** Handles a line of stdout that is no message. */
  stdout(line: string): void {
    const { logger, mask, quota } = this.#deps
    this.#hasStdout = true
    this.#store(line)
    if (!quota.take()) return
    const output = mask(line).slice(0, MAX_LOGGED_STDOUT)
    logger.warn({ action: 'stdout', output }, 'not a message on stdout')
  }

  /** Stores a line unchanged, since most are never shown. */
  #store(line: string): void {
    if (NOISE.test(line)) return
    this.#lines.push(line)
    if (this.#lines.length > MAX_LINES) this.#lines.shift()
  }

  #shown(line: string): string {
    const text = withoutFolders(printable(this.#deps.mask(line)))
    return text.slice(0, MAX_LINE_CHARACTERS).toWellFormed()
  }
}

function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trimEnd()
}

const FOLDERS = /(?<![\w.:/~@-])\/(?:[^\s/:'"`()]+\/)+(?=[^\s/])/g
const FOLDERS_WINDOWS = /\b[A-Za-z]:\\(?:[^\s\\:'"`()]+\\)+/g

/** The text with paths replaced by file names, since callers elsewhere must not see the folders of this machine. */
function withoutFolders(text: string): string {
  return text
    .replaceAll(/file:\/\/(?=\/)/g, '')
    .replaceAll(FOLDERS, '…/')
    .replaceAll(FOLDERS_WINDOWS, '…\\')
}
