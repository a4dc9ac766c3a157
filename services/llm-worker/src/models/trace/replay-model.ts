import { readFileSync } from 'node:fs'
import { BusError } from '@mcp-host/contracts'
import { ConfigError } from '@mcp-host/service'
import type { Model } from '../../model.ts'
import type { Clock } from '../../providers/demo/clock.ts'
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
  // Conversations are shortened as they were then.
  const contextWindow = answers.values().next().value?.[0]?.contextWindow
  return {
    provider: 'demo',
    model: 'replay',
    ...(contextWindow === undefined ? {} : { contextWindow }),
    notice: 'These answers are a recording: what was not asked then has none.',
    async *stream(request, { signal }) {
      const [answer, ...later] = answers.get(askedFor(request)) ?? []
      if (answer === undefined) {
        throw new BusError('not-found', 'no answer to this is recorded; record it with LLM_RECORD')
      }
      // Each further request gets the next answer, and the last one from then on.
      if (later.length > 0) answers.set(answer.asked, later)
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

/** By what they answer, in the order in which they were given. */
function readAnswers(path: string): Map<string, TracedAnswer[]> {
  const lines = readLines(path)
  const answers = lines.flatMap((line, index) => {
    const { success, data } = TracedAnswer.safeParse(parseJson(line))
    if (success) return data
    // The last one may not have been written whole.
    if (line === '' || index === lines.length - 1) return []
    throw new ConfigError([`DEMO_REPLAY: ${path}: line ${index + 1} is no recorded answer`])
  })
  return Map.groupBy(answers, ({ asked }) => asked)
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
