import type { Bus } from '@mcp-host/bus'
import type { HistoryMessage, SessionId } from '@mcp-host/contracts'
import type { Input, SessionState } from '@mcp-host/session-state'
import { BusError } from '@mcp-host/contracts'
import { branchOf } from '@mcp-host/session-state'
import type { SessionViews } from '../turn/session-views.ts'
import { bytesOf, fitTurn } from './fit-turn.ts'
import type { SessionUser } from './own-record.ts'
import { mayUse, noSession, ownRecord } from './own-record.ts'
import { readTurns } from './read-turns.ts'
import { turnMessages } from './turn-messages.ts'

/** The largest page, in bytes of JSON. The broker refuses messages above 1 MiB. */
const MAX_PAGE_BYTES = 650 * 1024

export interface HistoryRequest {
  readonly session: SessionId
  /** The largest number of turns. */
  readonly limit: number
  readonly before?: string | undefined
  readonly branch?: string | undefined
  readonly only?: string | undefined
}

export interface HistoryPage {
  readonly messages: HistoryMessage[]
  readonly next?: string
}

/** A page of history in whole turns. Throws `not-found` for another owner's session, or an unknown message. */
export async function historyPage(
  { directory, sessions }: Pick<Bus, 'directory' | 'sessions'>,
  views: SessionViews,
  request: HistoryRequest,
  caller: SessionUser,
): Promise<HistoryPage> {
  const { session } = request
  const [found, through] = await Promise.all([
    directory.get(session),
    sessions.lastSequence(session),
  ])
  if (found !== undefined) ownRecord(session, found.record, caller)
  else if (through === 0) throw noSession(session)
  using used = await views.use(session, through)
  const { state } = used.view
  // The record is written shortly after the first message or a deletion. Until then the log decides.
  if (state.isDeleted || (found === undefined && !mayUse(caller, state.owner ?? '')))
    throw noSession(session)

  const { inputs, older } = select(state, request)
  const branches = branchesOf(state, inputs)
  const turns: HistoryMessage[][] = []
  let bytes = 0
  let next = older
  for await (const { input, turn } of readTurns(sessions, session, state, inputs)) {
    const place = {
      branches: branches.get(input.seq) ?? [],
      checkpoint: state.checkpoints.get(input.seq),
    }
    const messages = fitTurn(turnMessages(input, turn, place), MAX_PAGE_BYTES)
    bytes += bytesOf(messages)
    if (bytes > MAX_PAGE_BYTES) {
      next = turns.at(-1)?.[0]?.id
      break
    }
    turns.push(messages)
  }
  return { messages: turns.toReversed().flat(), ...(next === undefined ? {} : { next }) }
}

/** The user messages of the page, oldest first. `older`: the parameter `before` of the next page. */
function select(
  state: SessionState,
  { limit, before, branch: on, only }: HistoryRequest,
): { inputs: Input[]; older?: string } {
  if (only !== undefined) return { inputs: [inputOf(state, only, 'only')] }
  const end = on === undefined ? state.head : newestAfter(state, inputOf(state, on, 'branch'))
  const last = before === undefined ? end : inputOf(state, before, 'before').parent
  const branch = branchOf(state, last)
  const inputs = branch.slice(-limit)
  const [oldest] = inputs
  return branch.length > limit && oldest !== undefined ? { inputs, older: oldest.id } : { inputs }
}

/** The newest message of all branches that go through this one. */
function newestAfter({ inputs }: SessionState, { seq }: Input): number {
  const through = new Set([seq])
  let newest = seq
  for (const each of inputs.values()) {
    if (each.parent === undefined || !through.has(each.parent)) continue
    through.add(each.seq)
    newest = each.seq
  }
  return newest
}

function inputOf(state: SessionState, id: string, field: string): Input {
  const input = state.inputs.get(state.messageIds.get(id) ?? 0)
  if (input !== undefined) return input
  throw new BusError('not-found', `${field}: there is no message "${id}" in this session`, {
    field,
  })
}

/** For the sequence of each message, the ids of all alternative messages at its place. */
function branchesOf(
  state: SessionState,
  inputs: readonly Input[],
): ReadonlyMap<number, readonly string[]> {
  const places = new Map<number, string[]>(inputs.map(({ parent = 0 }) => [parent, []]))
  for (const { id, parent = 0 } of state.inputs.values()) places.get(parent)?.push(id)
  return new Map(inputs.map(({ seq, parent = 0 }) => [seq, places.get(parent) ?? []]))
}
