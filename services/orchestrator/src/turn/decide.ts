import type { ErrorInfo, Generation, ToolCall, Turn, TurnOutcome } from '@mcp-host/contracts'

/** What a turn has to do next. */
export type Step =
  /** Start a generation; `withTools` is false once the turn has used up its tool calls. */
  | { readonly type: 'generate'; readonly withTools: boolean }
  | {
      readonly type: 'await-generation'
      readonly generation: Generation
      /** For the one that replaces it, should its worker die. */
      readonly withTools: boolean
    }
  | { readonly type: 'settle'; readonly call: ToolCall; readonly message: string }
  | {
      readonly type: 'run-tools'
      readonly generation: Generation
      readonly calls: readonly ToolCall[]
    }
  | { readonly type: 'finish'; readonly outcome: TurnOutcome; readonly error?: ErrorInfo }

export interface Limits {
  readonly maxToolCalls: number
}

/** Takes the next step from what the log says, and nothing else. Pure. */
export function decide(turn: Turn, { maxToolCalls }: Limits): Step {
  const generation = turn.generations.findLast(({ isVoid }) => !isVoid)
  const withTools = countCalls(turn.generations) < maxToolCalls
  if (generation === undefined) return { type: 'generate', withTools }
  const { result } = generation
  if (result === undefined) return { type: 'await-generation', generation, withTools }
  if (result.outcome !== 'completed') {
    const error = result.error ?? { code: 'cancelled', message: 'the answer was cancelled' }
    return { type: 'finish', outcome: 'failed', error }
  }
  if (generation.calls.size === 0) return { type: 'finish', outcome: 'completed' }

  const calls = Array.from(generation.calls.values())
  const before = countCalls(turn.generations) - calls.length
  const open = calls.filter(isOpen)
  for (const call of open) {
    const position = before + calls.indexOf(call)
    const message = refusal(call, position, maxToolCalls)
    if (message !== undefined) return { type: 'settle', call, message }
  }
  if (open.length > 0) return { type: 'run-tools', generation, calls: open }
  if (before >= maxToolCalls) {
    const message = `the model asked for more than ${maxToolCalls} tool calls and gave no answer`
    return { type: 'finish', outcome: 'limit', error: { code: 'exhausted', message } }
  }
  return { type: 'generate', withTools }
}

export function isOpen(call: ToolCall): boolean {
  return call.settled === undefined && call.result === undefined
}

/** Why a call must not reach a server, in words for the model. */
function refusal({ block }: ToolCall, position: number, limit: number): string | undefined {
  if (position >= limit) {
    return `not run: this turn may make ${limit} tool calls. Answer with what you have.`
  }
  if (block.server === undefined || block.tool === undefined) {
    return `there is no tool "${block.name}". Use only the tools you were given, by their exact names.`
  }
  const { arguments: given } = block
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return `the arguments of "${block.name}" must be a JSON object; what you wrote is not.`
  }
  return undefined
}

function countCalls(generations: readonly Generation[]): number {
  return generations.reduce((sum, { isVoid, calls }) => (isVoid ? sum : sum + calls.size), 0)
}
