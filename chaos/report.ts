import type { LogEntry, LostRange } from '@mcp-host/contracts'
import type { Excused } from './check-run.ts'
import { logStories } from './check/log-stories.ts'
import type { Violation } from './check/violation.ts'
import type { Pauses, Struck } from './pauses.ts'
import { summarizePauses } from './pauses.ts'
import type { ChaosOptions } from './run-chaos.ts'
import type { ChaosSession } from './session.ts'

type Counts = Readonly<Record<string, number>>

/** The figures of a run. */
export interface Report {
  readonly seed: number
  readonly durationMs: number
  readonly natsServers: number
  readonly sessions: number
  /** Further sessions that were begun and deleted. */
  readonly deleted: number
  readonly turns: number
  /** Turns by how they ended. */
  readonly outcomes: Counts
  /** Tool calls by how they ended. */
  readonly calls: Counts
  /** Faults by kind and target. */
  readonly faults: Counts
  /** Faults in whose moment a turn was running, by kind and in all. */
  readonly landed: Counts
  /** Generations that were visibly written anew. */
  readonly resets: number
  /** After damage to the log. */
  readonly damage: {
    /** Losses that the host reported. */
    readonly losses: number
    /** Messages that were not checked, by why not. */
    readonly excused: Counts
    /** Turns that were not waited for any longer. */
    readonly givenUp: number
    /** Streams that began anew because their last event was lost. */
    readonly restarts: number
  }
  readonly pauses: Readonly<Record<string, Pauses>>
  readonly violations: number
  readonly violationsByRule: Counts
  /** Twenty at most. */
  readonly firstViolations: readonly Violation[]
  /** Where logs and streams are, when they were kept. */
  readonly folder?: string
}

export interface ReportInput {
  readonly options: ChaosOptions
  readonly sessions: readonly ChaosSession[]
  readonly deleted: number
  readonly struck: readonly Struck[]
  readonly violations: readonly Violation[]
  readonly logs: ReadonlyMap<ChaosSession, readonly LogEntry[]>
  readonly excused: Excused
  readonly lost: readonly LostRange[]
  readonly durationMs: number
}

export function makeReport(input: ReportInput): Report {
  const { options, sessions, deleted, struck, violations, logs, excused, lost, durationMs } = input
  const stories = [...logs.values()].flatMap((log) => [...logStories(log).values()])
  const clients = sessions.flatMap((session) => session.clients)
  const landed = struck.filter((each) => each.sessions.length > 0)
  return {
    seed: options.seed,
    durationMs: Math.round(durationMs),
    natsServers: options.natsServers,
    sessions: sessions.length,
    deleted,
    turns: stories.length,
    outcomes: count(stories.map(({ outcome = 'none' }) => outcome)),
    calls: count(
      stories.flatMap(({ calls }) =>
        Array.from(calls.values(), ({ tool, outcome = 'none' }) => `${tool} ${outcome}`),
      ),
    ),
    faults: count(struck.map(({ fault }) => `${fault.kind} ${fault.target}`)),
    landed: { total: landed.length, ...count(landed.map(({ fault }) => fault.kind)) },
    resets: sessions.reduce(
      (sum, { client: { checks } }) => sum + checks.reduce((all, { resets }) => all + resets, 0),
      0,
    ),
    damage: {
      losses: lost.length,
      excused: count([...excused.values()].flatMap((messages) => [...messages.values()])),
      givenUp: sessions.reduce((sum, { client }) => sum + client.givenUp.size, 0),
      restarts: clients.reduce((sum, { restarts }) => sum + restarts.length, 0),
    },
    pauses: summarizePauses(
      struck,
      sessions.map(({ client }) => client.received),
      options.natsServers,
    ),
    violations: violations.length,
    violationsByRule: count(violations.map(({ rule }) => rule)),
    firstViolations: violations.slice(0, 20),
  }
}

function count(names: readonly string[]): Counts {
  const groups = Object.entries(Object.groupBy(names, (name) => name))
  return Object.fromEntries(
    groups
      .map(([name, all = []]) => [name, all.length] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

/** The figures for people. */
export function describeReport({
  pauses,
  violationsByRule,
  firstViolations,
  ...rest
}: Report): string {
  const rows = Object.entries(pauses).map(
    ([name, { faults, samples, p50, p95, max, goal }]) =>
      `${name.padEnd(22)}${[faults, samples, p50, p95, max, goal].map((each) => (Number.isNaN(each) ? '-' : String(each)).padStart(9)).join('')}`,
  )
  const heads = ['faults', 'sessions', 'p50', 'p95', 'max', 'goal']
  return [
    `longest pause of each session in mid-turn, in ms`,
    `${''.padEnd(22)}${heads.map((each) => each.padStart(9)).join('')}`,
    ...rows,
    `${rest.turns} turns ${JSON.stringify(rest.outcomes)}, calls ${JSON.stringify(rest.calls)}, ${rest.resets} resets, ${rest.deleted} sessions deleted`,
    `faults in mid-turn ${JSON.stringify(rest.landed)}`,
    ...(rest.damage.losses > 0 ? [`losses of data ${JSON.stringify(rest.damage)}`] : []),
    `${rest.violations} violations ${JSON.stringify(violationsByRule)}`,
    ...firstViolations.map(
      ({ rule, where, detail }) => `  ${rule}: ${where}: ${detail.slice(0, 300)}`,
    ),
  ].join('\n')
}
