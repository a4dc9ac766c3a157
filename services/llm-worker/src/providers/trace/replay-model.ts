import { readFileSync } from 'node:fs'
import { BusError } from '@mcp-host/contracts'
import { ConfigError } from '@mcp-host/service'
import type { Model } from '../../model.ts'
import type { Clock } from '../demo/clock.ts'
import { askedFor, TracedAnswer } from './trace.ts'

export interface ReplayOptions {
  readonly clock: Clock
  /** What `recorded` wrote. */
  readonly path: string
  /** Whether the parts come as fast as they can, instead of as they came. */
  readonly isFast: boolean
}

/**
 * A model that answers what it is asked as another did, so that a conversation can be had again without that
 * one. Throws `ConfigError` when the file cannot be read.
 */
export function replayModel({ clock, path, isFast }: ReplayOptions): Model {
  const answers = readAnswers(path)
  return {
    provider: 'demo',
    model: 'replay',
    notice: 'These answers are a recording: what was not asked then has none.',
    async *stream(request, { signal }) {
      const answer = answers.get(askedFor(request))
      if (answer === undefined) {
        throw new BusError('not-found', 'no answer to this is recorded; record it with LLM_RECORD')
      }
      const begin = clock.now()
      for (const [ms, part] of answer.parts) {
        const wait = isFast ? 0 : begin + ms - clock.now()
        if (wait > 0) await clock.delay(wait, signal)
        signal.throwIfAborted()
        yield part
      }
      if (answer.error !== undefined) {
        const { code, message, reason } = answer.error
        throw new BusError(code, message, reason === undefined ? {} : { reason })
      }
    },
  }
}

/** The last answer to each question counts. */
function readAnswers(path: string): Map<string, TracedAnswer> {
  const lines = readLines(path)
  const answers = lines.flatMap((line, index) => {
    if (line === '') return []
    const { success, data } = TracedAnswer.safeParse(parseJson(line))
    if (success) return data
    throw new ConfigError([`DEMO_REPLAY: ${path}: line ${index + 1} is no recorded answer`])
  })
  return new Map(answers.map((answer) => [answer.asked, answer]))
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([`DEMO_REPLAY: ${path} cannot be read: ${reason}`])
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
