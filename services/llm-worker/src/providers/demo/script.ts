import { BusError, ErrorCode } from '@mcp-host/contracts'
import { z } from 'zod'

/** One generation of a scripted turn. */
const ScriptStep = z
  .strictObject({
    reasoning: z.string().optional(),
    text: z.string().optional(),
    /** The number of numbered words to write instead of a text. */
    tokens: z.number().int().min(1).max(1_000_000).optional(),
    /** Whether each token is the time of its own emission, in microseconds since the epoch. */
    stamp: z.literal(true).optional(),
    tokensPerSecond: z.number().nonnegative().optional(),
    /** The calls. Arguments given as a string are sent unchanged, so they may be invalid JSON. */
    calls: z
      .array(
        z.strictObject({
          name: z.string(),
          arguments: z.union([z.string(), z.record(z.string(), z.json())]),
        }),
      )
      .optional(),
    error: z
      .strictObject({
        afterTokens: z.number().int().nonnegative(),
        message: z.string(),
        /** Default: `unavailable`. */
        code: ErrorCode.optional(),
        /** Whether the error reports a context overflow. */
        overflow: z.literal(true).optional(),
      })
      .optional(),
    /** Whether the step waits for an abort instead of ending. */
    hang: z.literal(true).optional(),
  })
  .refine((step) => step.text === undefined || step.tokens === undefined, {
    message: '"text" and "tokens" exclude each other',
    path: ['tokens'],
  })
  .refine((step) => step.stamp === undefined || step.tokens !== undefined, {
    message: '"stamp" needs "tokens"',
    path: ['stamp'],
  })
export type ScriptStep = z.infer<typeof ScriptStep>

const Script = z.strictObject({ script: z.array(ScriptStep).min(1) })

/** A step of the script that a user message consists of; `undefined` for an ordinary message. */
export function readScriptStep(message: string, index: number): ScriptStep | undefined {
  if (!/^\s*\{\s*"script"\s*:/.test(message)) return undefined
  const { success, data, error } = Script.safeParse(parseJson(message))
  if (!success) throw BusError.fromZod(error, 'script')
  const { length, [index]: step } = data.script
  if (step !== undefined) return step
  throw new BusError('invalid', `script: step ${index} is asked for, it has ${length}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BusError('invalid', `script: ${(cause as SyntaxError).message}`, { cause })
  }
}
