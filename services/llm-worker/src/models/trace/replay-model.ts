import { readFileSync } from 'node:fs'
import { BusError } from '@mcp-host/contracts'
import { ConfigError } from '@mcp-host/service'
import type { Model } from '../../model.ts'
import type { Clock } from '../../providers/demo/clock.ts'
import { askedFor, TracedAnswer } from './trace.ts'

export interface ReplayOptions {
  readonly clock: Clock
  /** The file that `recorded` wrote. */
  readonly path: string
  /** Whether the delays between parts are skipped. */
  readonly isFast: boolean
}

/**
 * A model that replays recorded answers, so that a conversation can be repeated without the original model. Throws
 * `ConfigError` when the file cannot be read.
 */
export function replayModel({ clock, path, isFast }: ReplayOptions): Model {
  const answers = readAnswers(path)
  // With the recorded context window, conversations are compacted in the same way.
  const contextWindow = answers.values().next().value?.[0]?.contextWindow
  return {
    provider: 'demo',
    model: 'replay',
    ...(contextWindow === undefined ? {} : { contextWindow }),
    notice: 'These answers are recorded; only the recorded messages have one.',
    async *stream(request, { signal }) {
      const [answer, ...later] = answers.get(askedFor(request)) ?? []
      if (answer === undefined) {
        throw new BusError('not-found', 'no answer to this is recorded; record it with LLM_RECORD')
      }
      // A repeated question gets the next recorded answer, and finally the last one each time.
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

/** The answers by `askedFor`, in the order of their recording. */
function readAnswers(path: string): Map<string, TracedAnswer[]> {
  const lines = readLines(path)
  const answers = lines.flatMap((line, index) => {
    const { success, data } = TracedAnswer.safeParse(parseJson(line))
    if (success) return data
    // The last line may be incomplete.
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
