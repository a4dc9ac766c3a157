import { BusError, ErrorCode } from '@mcp-host/contracts'
import { z } from 'zod'

/** One generation of a scripted turn. */
const ScriptStep = z
  .strictObject({
    reasoning: z.string().optional(),
    text: z.string().optional(),
    /** So many numbered words instead of a text. */
    tokens: z.number().int().min(1).max(1_000_000).optional(),
    /** Each token is the time of its own emission, in microseconds since the epoch. */
    stamp: z.literal(true).optional(),
    tokensPerSecond: z.number().nonnegative().optional(),
    /** Arguments as a string go out as they are, so they may be broken JSON. */
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
        /** As if the conversation were too long for the model. */
        overflow: z.literal(true).optional(),
      })
      .optional(),
    /** Wait for the abort instead of ending. */
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
export type Script = z.infer<typeof Script>

/** The script a user message consists of, nothing when it is an ordinary message. */
export function readScript(text: string): Script | undefined {
  if (!/^\s*\{\s*"script"\s*:/.test(text)) return undefined
  const { success, data, error } = Script.safeParse(parseJson(text))
  if (!success) throw BusError.fromZod(error, 'script')
  return data
}

/** Every generation of a turn takes the next step. */
export function scriptStep({ script }: Script, index: number): ScriptStep {
  const step = script[index]
  if (step !== undefined) return step
  throw new BusError('invalid', `script: step ${index} is asked for, it has ${script.length}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BusError('invalid', `script: ${(cause as SyntaxError).message}`, { cause })
  }
}
