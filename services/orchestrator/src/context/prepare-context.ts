import type { Bus } from '@mcp-host/bus'
import type {
  ContextCompacted,
  ModelEntry,
  OfferedTool,
  PromptMessage,
  ToolAnswer,
} from '@mcp-host/contracts'
import type { Generation, Input, SessionState } from '@mcp-host/session-state'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import { TurnFailure } from '../turn/turn-failure.ts'
import type { ClaimedTurn, Limits } from '../turn/turn.ts'
import { messageTokens, promptTokens } from './estimate-tokens.ts'
import { readTokens, summarise } from './summarise.ts'
import type { SourcedMessage, TranscriptLimits } from './transcript.ts'
import { isPruned, sinceCheckpoint, sourcedMessages } from './transcript.ts'

/** The context window of models that report none. */
const DEFAULT_WINDOW = 128_000
/** The limit for the context window of models, unless a setting raises it: each token is paid for at each step. */
const MAX_WINDOW = 200_000
/** The share of the context window that is kept free for the answer, up to a number of tokens. */
const RESERVE = 0.25
const MAX_RESERVE = 8_000

/**
 * The share of the budget from which on old results are cleared. Results are also cleared before messages are
 * summarised.
 */
const CLEAR_AT = 0.7
/** The minimum saving, as a share of the budget: every change invalidates the provider's prompt cache. */
const WORTH = 0.1
/** The number of turns before the running one that keep their results. */
const WHOLE_TURNS = 2
/** The share of the conversation's budget for the newest messages, beside a summary. */
const KEPT = 0.25
/** The same share when a setting keeps more messages. */
const MAX_KEPT = 0.6
/** The share of the conversation that is sent after a context overflow. */
const FORCED = 0.5

const MAX_SUMMARY_TOKENS = 4_000
/** The limit for the messages of one summary request, which must fit into one message of the broker. */
const MAX_SUMMARISED_TOKENS = 60_000
/** The minimum length of a cut result; a shorter one is of no use. */
const MIN_RESULT_TOKENS = 100

/** A provider's count that differs by more than this factor from the estimate, either way, was for another prompt. */
const MAX_SCALE = 2

type Compacted = Omit<ContextCompacted, 'turn' | 'seen'>

export interface ContextDeps {
  readonly bus: Pick<Bus, 'call'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly events: { contextCompacted(how: ContextCompacted['how']): void }
  /** `contextTokens`: the budget with the room for the answer, which replaces the model's context window. */
  readonly limits: TranscriptLimits &
    Pick<Limits, 'maxHistoryLength' | 'summarizationThreshold' | 'retainNewestMessages'> & {
      readonly contextTokens?: number
    }
  /** The catalog's entry of a model by its name, else of the default model. */
  readonly model: (reference?: string) => Pick<ModelEntry, 'contextWindow'> | undefined
  readonly systemPrompt: string
}

export interface ContextTurn extends Pick<
  ClaimedTurn,
  'session' | 'input' | 'envelope' | 'cancelled' | 'leaving' | 'over'
> {
  readonly view: { readonly state: SessionState }
  readonly writer: {
    append(fact: Compacted): Promise<void>
    folded(): Promise<void>
  }
}

/** A prompt, and its size in tokens. */
interface Draft {
  readonly messages: readonly SourcedMessage[]
  readonly tokens: number
  /** The changes to the state that this prompt assumes. */
  readonly change: Partial<SessionState>
}

interface Work {
  readonly deps: ContextDeps
  readonly turn: ContextTurn
  /** The token budget of the prompt; `fixed`: the tokens of its tools and instructions. */
  readonly budget: number
  readonly fixed: number
  readonly force: boolean
  /** The prompt with other changes to the state, or with other limits. */
  readonly draftWith: (change: Partial<SessionState>, limits?: TranscriptLimits) => Draft
}

/**
 * Builds the prompt of a conversation and makes it fit. Omissions are recorded in the log, so that they stay; except
 * those that are made only because no model could summarise at the moment. `force`: after a context overflow, half of
 * the conversation is sent if that is possible, and all omissions stay. Throws `TurnFailure` when the running turn alone
 * is too long.
 */
export async function prepareContext(
  deps: ContextDeps,
  turn: ContextTurn,
  tools: readonly OfferedTool[],
  { force }: { readonly force: boolean },
): Promise<PromptMessage[]> {
  const { limits } = deps
  const { systemPrompt = deps.systemPrompt } = turn.view.state.settings
  const count = (messages: readonly SourcedMessage[]): number =>
    promptTokens(
      messages.map(({ message }) => message),
      tools,
      systemPrompt,
    )
  const full = contextBudget(deps, turn.view.state.inputs.get(turn.input)?.model)
  const whole = sourcedMessages(turn.view.state, turn.input, limits)
  const estimate = count(whole)
  const scale = providerScale(whole, estimate, full)
  const tokens = Math.ceil(scale * estimate)
  let draft: Draft = { messages: whole, tokens, change: {} }
  const fixed = Math.ceil(scale * count([]))
  const half = fixed + Math.floor((tokens - fixed) * FORCED)
  const budget = force ? Math.min(full, half) : full
  const work: Work = {
    deps,
    turn,
    budget,
    fixed,
    force,
    draftWith: (change, otherLimits = limits) => {
      const messages = sourcedMessages({ ...turn.view.state, ...change }, turn.input, otherLimits)
      return { messages, tokens: Math.ceil(scale * count(messages)), change }
    },
  }

  const { inputs } = sinceCheckpoint(turn.view.state, turn.input)
  if (draft.tokens > Math.min(CLEAR_AT, limits.summarizationThreshold / 100) * budget) {
    const old = generationsOf(turn.view.state, inputs.slice(0, -1 - WHOLE_TURNS))
    draft = await clearResults(work, draft, old, WORTH * budget)
  }
  draft = await summariseOld(work, draft)
  if (draft.tokens > budget && !isUnwanted(turn)) {
    // This includes the running turn, after an overflow even its newest results, since a cut of results is not
    // recorded.
    const own = generationsOf(turn.view.state, inputs.slice(-1))
    draft = await clearResults(work, draft, force ? own : own.slice(0, -1), 1)
  }
  // After an overflow whatever is shorter is worth a request: a provider's limit is not known, half is a guess.
  const isEnough = force && draft.tokens < tokens
  if (draft.tokens > budget && !isEnough && !isUnwanted(turn)) draft = cutResults(work, draft)
  return draft.messages.map(({ message }) => message)
}

/** Whether the conversation includes turns whose content the state does not have. */
export function needsWholeLog(state: SessionState, input: number): boolean {
  return sinceCheckpoint(state, input).inputs.some((each) => isPruned(state, each))
}

/** The token budget of a prompt, including tool definitions and the system prompt. */
export function contextBudget(
  { limits, model }: Pick<ContextDeps, 'limits' | 'model'>,
  reference: string | undefined,
): number {
  const taken = Math.min(MAX_WINDOW, model(reference)?.contextWindow ?? DEFAULT_WINDOW)
  const window = limits.contextTokens ?? taken
  return Math.floor(window - Math.min(MAX_RESERVE, window * RESERVE))
}

/** Corrects the estimate by the provider's last count. */
function providerScale(
  messages: readonly SourcedMessage[],
  estimate: number,
  budget: number,
): number {
  const last = messages.findLastIndex(
    ({ message, generation }) =>
      message.role === 'assistant' && countedTokens(generation) !== undefined,
  )
  const counted = countedTokens(messages[last]?.generation)
  if (counted === undefined) return 1
  const added = tokensOf(messages.slice(last))
  // A prompt above the budget cannot have been sent as it is estimated here: its results were cut.
  if (estimate - added > budget) return 1
  const scale = (counted + added) / estimate
  return scale >= 1 / MAX_SCALE && scale <= MAX_SCALE ? scale : 1
}

/** The provider's count of the prompt; absent for estimated counts. */
function countedTokens(generation: Generation | undefined): number | undefined {
  const { inputTokens, isEstimate } = generation?.result?.usage ?? {}
  return isEstimate === true ? undefined : inputTokens
}

function generationsOf(state: SessionState, inputs: readonly Input[]): Generation[] {
  return inputs
    .flatMap(({ seq }) => state.turns.get(seq)?.generations ?? [])
    .filter(({ calls }) => calls.size > 0)
}

/** Clears the results up to the last of these generations, if that saves enough tokens. */
async function clearResults(
  work: Work,
  before: Draft,
  generations: readonly Generation[],
  minSaving: number,
): Promise<Draft> {
  const through = Math.max(0, ...generations.map(({ resultSeq }) => resultSeq))
  if (through <= work.turn.view.state.clearedThrough) return before
  const after = work.draftWith({ ...before.change, clearedThrough: through })
  if (before.tokens - after.tokens < minSaving) return before
  const left = answersOf(after)
  const removed = answersOf(before).filter(({ text }, index) => text !== left[index]?.text).length
  const counts = { removed, kept: left.length - removed }
  await record(work, { how: 'cleared', through }, before, after, counts)
  return after
}

function answersOf({ messages }: Draft): ToolAnswer[] {
  return messages.flatMap(({ message }) => (message.role === 'tool' ? message.answers : []))
}

/**
 * Replaces all but the newest turns by a summary. Conversations that exceed one summary request are summarised in
 * steps, each with the previous summary. Without a model that can summarise, nothing changes while there is room.
 */
async function summariseOld(work: Work, before: Draft): Promise<Draft> {
  const { deps, turn, budget, fixed, force, draftWith } = work
  const { summarizationThreshold, maxHistoryLength } = deps.limits
  const isManyMessages = maxHistoryLength > 0 && before.messages.length > maxHistoryLength
  if (before.tokens <= (summarizationThreshold / 100) * budget && !isManyMessages) return before
  const { state } = turn.view
  const { checkpoint, inputs } = sinceCheckpoint(state, turn.input)
  const last = inputs[firstKept(inputs, before, keptRoom(deps.limits, budget - fixed)) - 1]?.seq
  if (last === undefined) return before
  const old = upTo(before, last)
  const isTooLong = before.tokens > budget
  if (!isTooLong && !isManyMessages && tokensOf(old) < WORTH * budget) return before
  const maxTokens = {
    read: Math.min(MAX_SUMMARISED_TOKENS, Math.floor(budget * CLEAR_AT)),
    write: Math.min(MAX_SUMMARY_TOKENS, Math.floor(budget / 8)),
  }
  const read = lastRead(old, maxTokens.read)
  if (read === undefined) return before
  const messages = upTo(before, read).map(({ message }) => message)
  const written = await summarise(deps, turn, messages, { maxTokens })
  // There is room left, so a model may summarise at the next step instead.
  if (written.state !== 'written' && (!isTooLong || isUnwanted(turn))) return before
  const isWritten = written.state === 'written'
  const through = isWritten ? read : last
  const summary = isWritten ? written.text : checkpoint?.summary
  const next = {
    how: isWritten ? ('summarised' as const) : ('dropped' as const),
    ...(summary === undefined ? {} : { summary }),
    ...(isWritten && written.usage !== undefined ? { usage: written.usage } : {}),
  }
  const after = draftWith({ checkpoints: new Map(state.checkpoints).set(through, next) })
  const removed = upTo(before, through).length
  const counts = { removed, kept: before.messages.length - removed }
  // After an overflow the omission is recorded, since the next prompt is built from the log.
  if (written.state === 'busy' && !force) {
    noteOnce(work, 'left-out', before, after, counts)
    return after
  }
  await record(work, { ...next, through }, before, after, counts)
  return summariseOld(work, after)
}

function upTo({ messages }: Draft, through: number): SourcedMessage[] {
  return messages.filter(({ input = 0 }) => input <= through)
}

/** The last turn up to which the messages fit into `room` tokens, from the oldest on; at least the first turn. */
function lastRead(messages: readonly SourcedMessage[], room: number): number | undefined {
  let last: number | undefined
  let tokens = 0
  for (const [seq, part] of Map.groupBy(messages, ({ input = 0 }) => input)) {
    tokens += readTokens(part.map(({ message }) => message))
    if (tokens > room && last !== undefined) break
    // A checkpoint is not a turn.
    if (seq > 0) last = seq
  }
  return last
}

/** Limits for the newest messages that are not summarised. */
interface KeptRoom {
  readonly tokens: number
  /** The number of messages that are kept even if they exceed `tokens`, up to `maxTokens`. */
  readonly messages: number
  readonly maxTokens: number
  readonly maxMessages: number
}

function keptRoom(
  { maxHistoryLength, retainNewestMessages }: ContextDeps['limits'],
  room: number,
): KeptRoom {
  // Half of the allowed number, since the next message would exceed it again.
  const half = maxHistoryLength === 0 ? Infinity : Math.floor(maxHistoryLength / 2)
  const messages = Math.min(retainNewestMessages, half)
  return { tokens: KEPT * room, messages, maxTokens: MAX_KEPT * room, maxMessages: half }
}

/** The index of the first message that fits into the room, at the latest that of the running turn. */
function firstKept(inputs: readonly Input[], { messages }: Draft, room: KeptRoom): number {
  let first = inputs.length - 1
  let tokens = 0
  let count = 0
  for (let index = first; index >= 0; index--) {
    const seq = inputs[index]?.seq
    const part = messages.filter(({ input }) => input === seq)
    tokens += tokensOf(part)
    count += part.length
    const isOver =
      count > room.maxMessages || tokens > (count <= room.messages ? room.maxTokens : room.tokens)
    if (index < inputs.length - 1 && isOver) break
    first = index
  }
  return first
}

function tokensOf(messages: readonly SourcedMessage[]): number {
  return messages.reduce((sum, { message }) => sum + messageTokens(message), 0)
}

function isUnwanted({ cancelled, leaving, over }: ContextTurn): boolean {
  return cancelled.aborted || leaving.aborted || over.aborted
}

/** Records an omission in the log, so that later prompts have it, too. */
async function record(
  { deps, turn, budget }: Work,
  fact: Pick<Compacted, 'how' | 'through' | 'summary' | 'usage'>,
  { tokens: tokensBefore }: Draft,
  { tokens: tokensAfter }: Draft,
  counts: { readonly removed: number; readonly kept: number },
): Promise<void> {
  const { how, through } = fact
  await turn.writer.append({ type: 'context-compacted', ...fact, tokensBefore, tokensAfter })
  await turn.writer.folded()
  deps.events.contextCompacted(how)
  const fields = { through, tokensBefore, tokensAfter, budget, ...counts }
  deps.logger.info(
    { ...about(turn), action: how, ...fields },
    'a part of the conversation is left out from now on',
  )
}

/** Cuts the results to ever shorter lengths until the prompt fits. Only this prompt is affected. */
function cutResults(work: Work, before: Draft): Draft {
  const { deps, budget, fixed, draftWith } = work
  const { limits } = deps
  let after = before
  let { maxResultTokens } = limits
  while (after.tokens > budget) {
    maxResultTokens = Math.floor(maxResultTokens / 2)
    if (maxResultTokens < MIN_RESULT_TOKENS) {
      const message =
        fixed > budget / 2
          ? 'the system prompt and the tools leave too little room for a conversation with this model; shorten SYSTEM_PROMPT or use a model with a larger context window'
          : 'this conversation has become too long for the model; please start a new one'
      throw new TurnFailure({ code: 'exhausted', message })
    }
    after = draftWith(before.change, { ...limits, maxResultTokens })
  }
  noteOnce(work, 'cut', before, after, { maxResultTokens })
  return after
}

/** Logs an omission that affects only this prompt. */
function noteOnce(
  { deps, turn, budget }: Work,
  action: 'cut' | 'left-out',
  { tokens: tokensBefore }: Draft,
  { tokens: tokensAfter }: Draft,
  fields: Readonly<Record<string, number>>,
): void {
  const all = { ...about(turn), action, ...fields, tokensBefore, tokensAfter, budget }
  deps.logger.info(all, 'a part of the conversation is left out of this prompt')
}

function about({ envelope, session, input }: ContextTurn): Record<string, unknown> {
  return { ...requestFields(envelope), component: 'context', sessionId: session, turn: input }
}
