import type { Bus } from '@mcp-host/bus'
import type {
  ContextCompacted,
  Generation,
  Input,
  ModelEntry,
  OfferedTool,
  PromptMessage,
  SessionState,
  ToolAnswer,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import { TurnFailure } from '../turn/turn-failure.ts'
import type { ClaimedTurn, Limits } from '../turn/turn.ts'
import { messageTokens, promptTokens } from './estimate-tokens.ts'
import { readTokens, summarise } from './summarise.ts'
import type { SourcedMessage, TranscriptLimits } from './transcript.ts'
import { isPruned, sinceCheckpoint, tell } from './transcript.ts'

/** For models of which is not known how much they take. */
const DEFAULT_WINDOW = 128_000
/** More is not sent unless it is asked for: every token of it is paid at each step. */
const MAX_WINDOW = 200_000
/** Room for the answer: this part, but not more than so many tokens. */
const RESERVE = 0.25
const MAX_RESERVE = 8_000

/** From this part of the budget on old results are cleared, but not later than what was said is summarised. */
const CLEAR_AT = 0.7
/** Smaller savings are postponed: every change invalidates the provider's prompt cache. */
const WORTH = 0.1
/** Turns before the running one that keep their results. */
const WHOLE_TURNS = 2
/** The share of the conversation's budget that the newest messages keep beside a summary. */
const KEPT = 0.25
/** The share where a setting asks for more messages. */
const MAX_KEPT = 0.6
/** After a model found the prompt too long: how much of the conversation is sent instead. */
const FORCED = 0.5

const MAX_SUMMARY_TOKENS = 4_000
/** The part for one summary must fit into one message of the broker; longer parts take several summaries. */
const MAX_SUMMARISED_TOKENS = 60_000
/** Results that are cut to less say nothing. */
const MIN_RESULT_TOKENS = 100

/** A provider's count that is so far from the estimate, either way, was of another prompt. */
const MAX_SCALE = 2

type Compacted = Omit<ContextCompacted, 'turn' | 'seen'>

export interface ContextDeps {
  readonly bus: Pick<Bus, 'call'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly events: { contextCompacted(how: ContextCompacted['how']): void }
  /** `contextTokens`: the budget with the room for the answer, instead of what the model says it takes. */
  readonly limits: TranscriptLimits &
    Pick<Limits, 'maxHistoryLength' | 'summarizationThreshold' | 'retainNewestMessages'> & {
      readonly contextTokens?: number
    }
  /** By its name, else the one that answers by default. */
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
  readonly told: readonly SourcedMessage[]
  readonly tokens: number
  /** Changes against the state it was made of. */
  readonly change: Partial<SessionState>
}

interface Work {
  readonly deps: ContextDeps
  readonly turn: ContextTurn
  /** In tokens; what tools and instructions take of it. */
  readonly budget: number
  readonly fixed: number
  readonly force: boolean
  /** As it would be with a change of the state, or of the limits. */
  readonly draftWith: (change: Partial<SessionState>, limits?: TranscriptLimits) => Draft
}

/**
 * The conversation as the model is to be sent it, made to fit. What is left out for that is written into
 * the log, so that it stays out; except what is missing in this prompt only because no model could
 * summarise it just now. `force`: the model found the last prompt too long; half of the conversation is
 * sent, and all that is left out stays out. Throws `TurnFailure` when the running turn alone is too long.
 */
export async function prepareContext(
  deps: ContextDeps,
  turn: ContextTurn,
  tools: readonly OfferedTool[],
  { force }: { readonly force: boolean },
): Promise<PromptMessage[]> {
  const { limits } = deps
  const { systemPrompt = deps.systemPrompt } = turn.view.state.settings
  const count = (told: readonly SourcedMessage[]): number =>
    promptTokens(
      told.map(({ message }) => message),
      tools,
      systemPrompt,
    )
  const full = contextBudget(deps, turn.view.state.inputs.get(turn.input)?.model)
  const whole = tell(turn.view.state, turn.input, limits)
  const estimate = count(whole)
  const scale = providerScale(whole, estimate, full)
  let draft: Draft = { told: whole, tokens: Math.ceil(scale * estimate), change: {} }
  const fixed = Math.ceil(scale * count([]))
  const half = fixed + Math.floor((draft.tokens - fixed) * FORCED)
  const budget = force ? Math.min(full, half) : full
  const work: Work = {
    deps,
    turn,
    budget,
    fixed,
    force,
    draftWith: (change, otherLimits = limits) => {
      const told = tell({ ...turn.view.state, ...change }, turn.input, otherLimits)
      return { told, tokens: Math.ceil(scale * count(told)), change }
    },
  }

  const { inputs } = sinceCheckpoint(turn.view.state, turn.input)
  if (draft.tokens > Math.min(CLEAR_AT, limits.summarizationThreshold / 100) * budget) {
    const old = generationsOf(turn.view.state, inputs.slice(0, -1 - WHOLE_TURNS))
    draft = await clearResults(work, draft, old, WORTH * budget)
  }
  draft = await summariseOld(work, draft)
  if (draft.tokens > budget && !isUnwanted(turn)) {
    // Also in the running turn. After an overflow also its newest results: cut results are not stored.
    const own = generationsOf(turn.view.state, inputs.slice(-1))
    draft = await clearResults(work, draft, force ? own : own.slice(0, -1), 1)
  }
  if (draft.tokens > budget && !isUnwanted(turn)) draft = cutResults(work, draft)
  return draft.told.map(({ message }) => message)
}

/** Whether the conversation reaches back to turns of which the state has only the places. */
export function needsWholeLog(state: SessionState, input: number): boolean {
  return sinceCheckpoint(state, input).inputs.some((each) => isPruned(state, each))
}

/** The token budget of a prompt, tool definitions and system prompt included. */
export function contextBudget(
  { limits, model }: Pick<ContextDeps, 'limits' | 'model'>,
  reference: string | undefined,
): number {
  const taken = Math.min(MAX_WINDOW, model(reference)?.contextWindow ?? DEFAULT_WINDOW)
  const window = limits.contextTokens ?? taken
  return Math.floor(window - Math.min(MAX_RESERVE, window * RESERVE))
}

/** Corrects the estimate by the provider's last count. */
function providerScale(told: readonly SourcedMessage[], estimate: number, budget: number): number {
  const last = told.findLastIndex(
    ({ message, generation }) =>
      message.role === 'assistant' && countedTokens(generation) !== undefined,
  )
  const counted = countedTokens(told[last]?.generation)
  if (counted === undefined) return 1
  const added = tokensOf(told.slice(last))
  // More than was allowed cannot have been sent: its results were cut, and not as they are here.
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

/** Clears the results up to the last of these generations, if that saves so many tokens. */
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

function answersOf({ told }: Draft): ToolAnswer[] {
  return told.flatMap(({ message }) => (message.role === 'tool' ? message.answers : []))
}

/**
 * Puts a summary in place of all but the newest turns; of more than a model can read at once one after
 * another, each with the one before. Nothing, when no model can write one.
 */
async function summariseOld(work: Work, before: Draft): Promise<Draft> {
  const { deps, turn, budget, fixed, force, draftWith } = work
  const { summarizationThreshold, maxHistoryLength } = deps.limits
  const isManyMessages = maxHistoryLength > 0 && before.told.length > maxHistoryLength
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
  // There is room left; another model may summarise at the next step.
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
  const counts = { removed, kept: before.told.length - removed }
  // After an overflow the prompt is built from the log: it would be too long again.
  if (written.state === 'busy' && !force) {
    noteOnce(work, 'left-out', before, after, counts)
    return after
  }
  await record(work, { ...next, through }, before, after, counts)
  return summariseOld(work, after)
}

function upTo({ told }: Draft, through: number): SourcedMessage[] {
  return told.filter(({ input = 0 }) => input <= through)
}

/** The last of the turns, the oldest first, that a model reads whole; the first in any case. */
function lastRead(told: readonly SourcedMessage[], room: number): number | undefined {
  let last: number | undefined
  let tokens = 0
  for (const [seq, part] of Map.groupBy(told, ({ input = 0 }) => input)) {
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
  /** So many messages stay although they take more tokens, up to `maxTokens`. */
  readonly messages: number
  readonly maxTokens: number
  readonly maxMessages: number
}

function keptRoom(
  { maxHistoryLength, retainNewestMessages }: ContextDeps['limits'],
  room: number,
): KeptRoom {
  // Half of what is allowed: else the next message is one too many again.
  const half = maxHistoryLength === 0 ? Infinity : Math.floor(maxHistoryLength / 2)
  const messages = Math.min(retainNewestMessages, half)
  return { tokens: KEPT * room, messages, maxTokens: MAX_KEPT * room, maxMessages: half }
}

/** The first message that has room, at the latest the running turn's. */
function firstKept(inputs: readonly Input[], { told }: Draft, room: KeptRoom): number {
  let first = inputs.length - 1
  let tokens = 0
  let messages = 0
  for (let index = first; index >= 0; index--) {
    const seq = inputs[index]?.seq
    const part = told.filter(({ input }) => input === seq)
    tokens += tokensOf(part)
    messages += part.length
    const isOver =
      messages > room.maxMessages ||
      tokens > (messages <= room.messages ? room.maxTokens : room.tokens)
    if (index < inputs.length - 1 && isOver) break
    first = index
  }
  return first
}

function tokensOf(told: readonly SourcedMessage[]): number {
  return told.reduce((sum, { message }) => sum + messageTokens(message), 0)
}

function isUnwanted({ cancelled, leaving, over }: ContextTurn): boolean {
  return cancelled.aborted || leaving.aborted || over.aborted
}

/** Writes down what is left out from here on. */
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
  deps.logger.info({ ...about(turn), action: how, ...fields }, 'less of the conversation is sent')
}

/** Cuts every result shorter and shorter until all fits, in this prompt only. */
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

/** Says what is left out of this prompt, and of no other. */
function noteOnce(
  { deps, turn, budget }: Work,
  action: 'cut' | 'left-out',
  { tokens: tokensBefore }: Draft,
  { tokens: tokensAfter }: Draft,
  fields: Readonly<Record<string, number>>,
): void {
  const all = { ...about(turn), action, ...fields, tokensBefore, tokensAfter, budget }
  deps.logger.info(all, 'less of the conversation is sent this time')
}

function about({ envelope, session, input }: ContextTurn): Record<string, unknown> {
  return { ...requestFields(envelope), component: 'context', sessionId: session, turn: input }
}
