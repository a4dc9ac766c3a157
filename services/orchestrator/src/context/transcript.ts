import type {
  ContentBlock,
  Media,
  PromptMessage,
  ToolAnswer,
  ToolFinished,
} from '@mcp-host/contracts'
import type {
  Checkpoint,
  Generation,
  Input,
  SessionState,
  ToolCall,
  Turn,
} from '@mcp-host/session-state'
import { blockText, mediaOf } from '@mcp-host/contracts'
import { branchOf, isLeftOut } from '@mcp-host/session-state'
import { cutText } from './cut-text.ts'
import { callText } from '../results/result-text.ts'

/** The tool by which models read results. `result-tools.ts` offers it. */
export const READ_TOOL = 'result__read'
export const SEARCH_TOOL = 'result__search'

/** Results up to this length are kept when results are cleared. In UTF-16 units. */
const KEPT_LENGTH = 200

const STOPPED = '[I stopped this answer here.]'
const FAILED =
  '[The answer failed here, and I was asked to send the message again. What the tools did so far stays done.]'

export interface TranscriptLimits {
  /** Longer results are cut to their beginning and end. */
  readonly maxResultTokens: number
}

/** A message of the conversation, with its source. */
export interface SourcedMessage {
  readonly message: PromptMessage
  /** Log sequence of the turn's user message; absent for the message of a checkpoint. */
  readonly input?: number
  readonly generation?: Generation
}

/** The conversation as a model reads it: the branch that ends with the message to be answered. */
export function transcript(
  state: SessionState,
  input: number,
  limits: TranscriptLimits,
): PromptMessage[] {
  return sourcedMessages(state, input, limits).map(({ message }) => message)
}

/** Like `transcript`, with the source of each message. */
export function sourcedMessages(
  state: SessionState,
  current: number,
  limits: TranscriptLimits,
): SourcedMessage[] {
  const { checkpoint, inputs } = sinceCheckpoint(state, current)
  return [
    ...(checkpoint === undefined ? [] : [tellCheckpoint(checkpoint)]),
    ...inputs.flatMap((input) => {
      const turn = state.turns.get(input.seq)
      if (isPruned(state, input) || (input.seq !== current && isWithdrawn(turn))) return []
      return tellTurn(state, input, turn, limits)
    }),
  ]
}

/** The newest checkpoint of a branch, and the messages that it does not cover, oldest first. */
export function sinceCheckpoint(
  state: SessionState,
  current: number,
): { readonly checkpoint: Checkpoint | undefined; readonly inputs: readonly Input[] } {
  const branch = branchOf(state, current)
  const last = branch.findLastIndex(({ seq }) => seq !== current && state.checkpoints.has(seq))
  const covered = branch[last]
  return {
    checkpoint: covered && state.checkpoints.get(covered.seq),
    inputs: branch.slice(last + 1),
  }
}

/** Whether the state has a message's place only, without its content. */
export function isPruned({ prunedThrough }: SessionState, input: Input): boolean {
  return input.seq <= prunedThrough && isLeftOut(input)
}

/** Whether the turn was cancelled before a model was asked. */
function isWithdrawn(turn: Turn | undefined): boolean {
  return turn === undefined || (turn.done?.outcome === 'cancelled' && turn.generations.length === 0)
}

function tellCheckpoint({ summary }: Checkpoint): SourcedMessage {
  const text =
    summary === undefined
      ? '[The beginning of this conversation was left out to save room.]'
      : `[Summary of the conversation so far, which itself was left out to save room:]\n\n${summary}`
  return { message: { role: 'user', text } }
}

function tellTurn(
  state: SessionState,
  { seq, text, attachments = [] }: Input,
  turn: Turn | undefined,
  limits: TranscriptLimits,
): SourcedMessage[] {
  const outcome = turn?.done?.outcome
  // For a failed answer the user got an apology. Results of its tools are kept, since the calls must not run again.
  const generations =
    turn?.generations.filter(({ calls }) => outcome !== 'failed' || calls.size > 0) ?? []
  const answer = generations.flatMap((generation) =>
    tellGeneration(state, generation, limits).map((message) => ({
      message,
      input: seq,
      generation,
    })),
  )
  const end =
    outcome === 'cancelled' ? STOPPED : outcome === 'failed' && answer.length > 0 ? FAILED : ''
  return [
    {
      message: { role: 'user', text, ...(attachments.length === 0 ? {} : { media: attachments }) },
      input: seq,
    },
    ...answer,
    ...(end === '' ? [] : [{ message: { role: 'user' as const, text: end }, input: seq }]),
  ]
}

function tellGeneration(
  { clearedThrough }: SessionState,
  { isVoid, result, resultSeq, calls }: Generation,
  limits: TranscriptLimits,
): PromptMessage[] {
  if (isVoid || result === undefined) return []
  // The user saw the text of a reply that broke off. Its tool calls never ran.
  const content =
    result.outcome === 'completed' ? result.content : result.content.filter(isPlainText)
  if (content.length === 0) return []
  const isCleared = resultSeq <= clearedThrough
  const answers = Array.from(calls.values(), (call) => toAnswer(call, isCleared, limits))
  return [
    { role: 'assistant', content },
    ...(answers.length === 0 ? [] : [{ role: 'tool' as const, answers }]),
  ]
}

function isPlainText(block: ContentBlock): boolean {
  return block.type === 'text'
}

/** The answer to a call. Every call needs one, since providers refuse prompts with unanswered calls. */
function toAnswer(call: ToolCall, isCleared: boolean, limits: TranscriptLimits): ToolAnswer {
  const { block, settled, result } = call
  const base = { call: block.id, name: block.name }
  const text = callText(call)
  if (text === undefined) return { ...base, text: 'no answer', isError: true }
  if (settled !== undefined && settled.outcome !== 'answered') {
    return { ...base, text, isError: true }
  }
  const isError = settled === undefined && result?.outcome === 'error'
  const media = isCleared || settled !== undefined ? [] : (result?.content ?? []).flatMap(mediaIn)
  return {
    ...base,
    text: shown(call, text, isCleared, limits),
    isError,
    ...(media.length === 0 ? {} : { media }),
  }
}

function mediaIn(block: ToolFinished['content'][number]): Media[] {
  const media = mediaOf(block)
  return media === undefined ? [] : [media]
}

/** As much of a result as fits, and the way to read the rest. */
function shown(
  { block: { id }, settled, result }: ToolCall,
  text: string,
  isCleared: boolean,
  { maxResultTokens }: TranscriptLimits,
): string {
  if (isCleared && text.length > KEPT_LENGTH) {
    return `[the result was cleared to save room; read it with ${READ_TOOL} and call "${id}"]`
  }
  const howTo = (offset: number): string =>
    `${READ_TOOL} with call "${id}" and offset ${offset}; find a text in it with ${SEARCH_TOOL}`
  const first = result?.content[0]
  if (settled === undefined && result?.blob !== undefined && first !== undefined) {
    const excerpt = blockText(first)
    const head = cutText(excerpt, maxResultTokens)?.head ?? excerpt
    return `${head}\n[… this is the beginning of a result of ${result.blob.bytes} bytes. Read on with ${howTo(head.length)}]`
  }
  const cut = cutText(text, maxResultTokens)
  if (cut === undefined) return text
  const { head, tail } = cut
  const left = text.length - head.length - tail.length
  return `${head}\n[… ${left} of ${text.length} characters are left out here. Read on with ${howTo(head.length)} …]\n${tail}`
}
