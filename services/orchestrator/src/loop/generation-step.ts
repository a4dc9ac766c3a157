import type { GenerationId } from '@mcp-host/contracts'
import type { Generation } from '@mcp-host/session-state'
import {
  BusError,
  childEnvelope,
  generate,
  generationControl,
  generationId,
} from '@mcp-host/contracts'
import { contextBudget, needsWholeLog, prepareContext } from '../context/prepare-context.ts'
import { toolsToOffer } from '../context/found-tools.ts'
import { resultTools } from '../context/result-tools.ts'
import { countOverflows } from './decide.ts'
import { pause } from '../turn/pause.ts'
import { probe } from '../turn/probe.ts'
import { usesServer } from '../turn/session-servers.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'
import { TurnFailure } from '../turn/turn-failure.ts'

/** The time limit for a generation. */
const GENERATION_LIMIT_MS = 600_000
/** The time limit for finding a worker with room. */
const WORKER_PATIENCE_MS = 30_000
const ACCEPT_TIMEOUT_MS = 2_000
/** After this silence the worker is pinged. */
const QUIET_MS = 1_000
/** Longer prompts go through the object store. */
const MAX_INLINE_BYTES = 512 * 1024
/** The share of the context budget for tool definitions, by the number of context overflows. */
const TOOL_SHARES: readonly number[] = [0.25, 0.125]

/** The id of the generation that the next append starts. */
export function nextGeneration(
  { bus }: Pick<TurnDeps, 'bus'>,
  { session, view }: Pick<ClaimedTurn, 'session' | 'view'>,
): GenerationId {
  const { fence } = view.state
  // Lost entries may have used the id, and clients may have the text of that generation.
  const lost = bus.sessions.lostRanges.findLast(({ after }) => after >= fence)
  return generationId(session, lost?.through ?? fence)
}

/** Starts a generation in the log, then asks a worker for it. */
export async function startGeneration(
  deps: TurnDeps,
  turn: ClaimedTurn,
  {
    withTools,
    voids,
    reason,
    force = false,
  }: { withTools: boolean; voids?: GenerationId; reason?: string; force?: boolean },
): Promise<void> {
  if (force) await prepare(deps, turn, withTools, true)
  await turn.writer.folded()
  const generation = nextGeneration(deps, turn)
  await turn.writer.append({
    type: 'generation-started',
    generation,
    ...(voids === undefined ? {} : { voids }),
    ...(reason === undefined ? {} : { reason }),
  })
  if (voids !== undefined) {
    await turn.writer.folded()
    // The replaced generation was alive: its result was stored just before, so the new generation is void.
    if (turn.view.state.generations.get(generation)?.isVoid === true) return
  }
  await requestGeneration(deps, turn, generation, withTools)
}

/** Hands a started generation to a worker. Throws `TurnFailure` when none takes it. */
export async function requestGeneration(
  deps: TurnDeps,
  turn: ClaimedTurn,
  generation: GenerationId,
  withTools: boolean,
): Promise<void> {
  const { bus } = deps
  const { session, input, envelope } = turn
  const prompt = await prepare(deps, turn, withTools, false)
  const { inputs, turns, settings } = turn.view.state
  const { systemPrompt = deps.systemPrompt, temperature } = settings
  const model = inputs.get(input)?.model
  const avoid = brokeOff(turns.get(input)?.generations ?? [])
  const request = {
    session,
    turn: input,
    generation,
    ...(model === undefined ? {} : { model }),
    ...(avoid.length === 0 ? {} : { avoid }),
    ...(await toSend(deps, turn, prompt)),
    limitMs: GENERATION_LIMIT_MS,
    deadline: bus.clock.now() + GENERATION_LIMIT_MS,
    ...(systemPrompt === '' ? {} : { system: systemPrompt }),
    ...(temperature === undefined ? {} : { temperature }),
  }
  const giveUpAt = Date.now() + WORKER_PATIENCE_MS
  while (!isUnwanted(turn)) {
    try {
      await bus.call(generate, {}, request, {
        envelope: childEnvelope(envelope),
        timeoutMs: ACCEPT_TIMEOUT_MS,
        // A worker that was frozen must not begin a generation that was given up.
        expires: true,
      })
      return
    } catch (error) {
      const failure = BusError.from(error)
      // The outcome is unknown. The checks of running generations detect a missing worker soon.
      if (failure.code === 'deadline') return
      if (failure.code !== 'unavailable') throw new TurnFailure(failure.toInfo())
      if (Date.now() > giveUpAt) {
        const message = 'no model can be reached right now'
        throw new TurnFailure({ code: 'unavailable', message })
      }
      await pause(turn, 100)
    }
  }
}

/** Models whose answer in this turn broke off, since another model may succeed. */
function brokeOff(generations: readonly Generation[]): string[] {
  const failed = generations.flatMap(({ result }) =>
    result?.outcome === 'failed' && result.content.length > 0
      ? [`${result.provider}/${result.model}`]
      : [],
  )
  return Array.from(new Set(failed))
}

type Prompt = Pick<Parameters<typeof toSend>[2], 'messages' | 'tools'>

/** The prompt, with the conversation made to fit. */
async function prepare(
  deps: TurnDeps,
  turn: ClaimedTurn,
  withTools: boolean,
  force: boolean,
): Promise<Prompt> {
  const { view, input, envelope } = turn
  if (needsWholeLog(view.state, input)) await view.readWhole()
  const known = withTools ? await deps.tools.offered() : []
  const all = known.filter(
    (tool) => usesServer(view.state.settings, tool.server) && !deps.policy.isHidden(envelope, tool),
  )
  const maxTokens = toolTokenLimit(deps, turn)
  const offered =
    maxTokens === 0
      ? []
      : toolsToOffer(all, view.state, { maxTools: deps.limits.maxOfferedTools, maxTokens })
  try {
    const messages = await prepareContext(deps, turn, offered, { force })
    const own = withTools && maxTokens > 0 ? resultTools(messages) : []
    return { messages, tools: [...offered, ...own] }
  } catch (error) {
    // Too many tools must not end a conversation, so the prompt is built without them.
    if (!(error instanceof TurnFailure) || offered.length === 0) throw error
    return { messages: await prepareContext(deps, turn, [], { force }), tools: [] }
  }
}

/** The token limit of tool definitions: a quarter of the context budget, and less after each context overflow. */
function toolTokenLimit(deps: TurnDeps, { view, input }: ClaimedTurn): number {
  const { inputs, turns } = view.state
  const overflows = countOverflows(turns.get(input) ?? { generations: [] })
  const share = TOOL_SHARES[overflows] ?? 0
  return Math.floor(share * contextBudget(deps, inputs.get(input)?.model))
}

async function toSend(
  { bus }: TurnDeps,
  { session }: ClaimedTurn,
  prompt: Pick<typeof generate.request._output, 'messages' | 'tools'>,
): Promise<Pick<typeof generate.request._output, 'messages' | 'tools' | 'prompt'>> {
  const bytes = Buffer.from(JSON.stringify(prompt))
  if (bytes.length <= MAX_INLINE_BYTES) return prompt
  return { messages: [], tools: [], prompt: await bus.blobs.put(bytes, { session }) }
}

function isUnwanted({ cancelled, leaving, over }: ClaimedTurn): boolean {
  return cancelled.aborted || leaving.aborted || over.aborted
}

/** Waits for news of a running generation. Returns `'dead'` when no worker runs it. */
export async function watchGeneration(
  { bus, heard }: TurnDeps,
  { session, view, envelope }: ClaimedTurn,
  generation: Generation,
): Promise<'news' | 'dead'> {
  const { seq } = view.state
  await view.change(heard.freshMs(generation.id) || QUIET_MS)
  if (view.state.seq > seq || heard.freshMs(generation.id) > 0) return 'news'
  const params = { generation: generation.id }
  const worker = await probe(bus, generationControl, params, { action: 'ping' }, envelope)
  if (worker !== undefined) return 'news'
  // The generation may have ended between two looks. The log decides.
  const last = await bus.sessions.lastSequence(session)
  if (last > view.state.seq) {
    await view.reach(last)
    return 'news'
  }
  return generation.result === undefined ? 'dead' : 'news'
}
