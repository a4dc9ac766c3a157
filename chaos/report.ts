import type { Run } from './check-run.ts'
import { turnsOfLog } from './check/turns-of-log.ts'
import type { Violation } from './check/violation.ts'
import type { Pauses, InjectedFault } from './pauses.ts'
import { summarizePauses } from './pauses.ts'
import type { ChaosOptions } from './options.ts'
import type { LoginFigures } from './servers/user-server.ts'

type Counts = Readonly<Record<string, number>>

/** The figures of a run. */
export interface Report {
  readonly seed: number
  readonly durationMs: number
  readonly natsServers: number
  readonly sessions: number
  /** Further sessions that were created and deleted. */
  readonly deleted: number
  /** Absent without an MCP server at which users log in. */
  readonly logins?: LoginFigures
  readonly turns: number
  /** Turns by outcome. */
  readonly outcomes: Counts
  /** Tool calls by tool and outcome. */
  readonly calls: Counts
  /** Faults by kind and target. */
  readonly faults: Counts
  /** Faults during a running turn, by kind and in total. */
  readonly landed: Counts
  /** Generations whose text was reset. */
  readonly resets: number
  /** Effects of damage to the log. */
  readonly damage: {
    /** Losses that the host reported. */
    readonly losses: number
    /** Messages that were not checked, by reason. */
    readonly excused: Counts
    /** Turns that were given up. */
    readonly givenUp: number
    /** Streams that restarted because their last event was lost. */
    readonly restarts: number
  }
  /** Requests of MCP that the host repaired, by the part that did. */
  readonly recoveries: Counts
  readonly pauses: Readonly<Record<string, Pauses>>
  readonly violations: number
  readonly violationsByRule: Counts
  /** The first violations, at most twenty. */
  readonly firstViolations: readonly Violation[]
  /** The folder of logs and streams, if it was kept. */
  readonly folder?: string
}

export interface ReportInput {
  readonly options: ChaosOptions
  readonly run: Run
  readonly injected: readonly InjectedFault[]
  readonly deleted: number
  readonly logins: LoginFigures | undefined
  readonly recoveries: Counts
  readonly violations: readonly Violation[]
  readonly durationMs: number
}

export function makeReport(input: ReportInput): Report {
  const { options, run, injected, deleted, logins, recoveries, violations, durationMs } = input
  const { sessions, logs, excused, lost } = run
  const turns = [...logs.values()].flatMap((log) => [...turnsOfLog(log).values()])
  const clients = sessions.flatMap((session) => session.clients)
  const landed = injected.filter((each) => each.sessions.length > 0)
  return {
    seed: options.seed,
    durationMs: Math.round(durationMs),
    natsServers: options.natsServers,
    sessions: sessions.length,
    deleted,
    ...(logins === undefined ? {} : { logins }),
    turns: turns.length,
    outcomes: count(turns.map(({ outcome = 'none' }) => outcome)),
    calls: count(
      turns.flatMap(({ calls }) =>
        Array.from(calls.values(), ({ tool, outcome = 'none' }) => `${tool} ${outcome}`),
      ),
    ),
    faults: count(injected.map(({ fault }) => `${fault.kind} ${fault.target}`)),
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
    recoveries,
    pauses: summarizePauses(
      injected,
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

/** The figures as readable text. */
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
    'longest pause of each running turn, in ms',
    `${''.padEnd(22)}${heads.map((each) => each.padStart(9)).join('')}`,
    ...rows,
    `${rest.turns} turns ${JSON.stringify(rest.outcomes)}, calls ${JSON.stringify(rest.calls)}, ${rest.resets} resets, ${rest.deleted} sessions deleted`,
    `faults in mid-turn ${JSON.stringify(rest.landed)}`,
    ...(rest.logins === undefined ? [] : [`logins ${JSON.stringify(rest.logins)}`]),
    `requests repaired ${JSON.stringify(rest.recoveries)}`,
    ...(rest.damage.losses > 0 ? [`losses of data ${JSON.stringify(rest.damage)}`] : []),
    `${rest.violations} violations ${JSON.stringify(violationsByRule)}`,
    ...firstViolations.map(
      ({ rule, where, detail }) => `  ${rule}: ${where}: ${detail.slice(0, 300)}`,
    ),
  ].join('\n')
}
