import { parseArgs } from 'node:util'
import { UsageError } from '../tools/command-line.ts'
import type { FaultKind, Target } from './faults.ts'
import { ALL_FAULT_KINDS, FAULT_KINDS, PROCESS_FAULTS, ROLLING, TARGETS } from './faults.ts'
import { between } from './random.ts'

const MAX_SESSIONS = 500
const MAX_PAGES = 20
/** The default number of logins: few, so that each is used all the time. */
const LOGINS = 5

export interface ChaosOptions {
  readonly seed: number
  readonly sessions: number
  /** Number of sessions that a page of the web UI follows. */
  readonly pages?: number
  /** Number of sessions whose users log in at an MCP server. With one, all clients authenticate. */
  readonly logins?: number
  readonly targets: readonly Target[]
  readonly kinds: readonly FaultKind[]
  /** Whether clients authenticate, and the audit log is checked. */
  readonly hasAuth?: boolean
  /** Whether each service has its own account at nats-server. */
  readonly hasAccounts?: boolean
  /** Whether the host is that of the compose file, whose clients authenticate. */
  readonly isCompose?: boolean
  /** Number of nats-servers in the cluster: 1 or 3. */
  readonly natsServers: number
  /** Ends the run after this many turns, and this many faults during running turns … */
  readonly turns: number
  readonly faults: number
  /** … or after this time. */
  readonly seconds?: number | undefined
  /** Keeps logs and streams even without violations. */
  readonly isKept: boolean
  /** Prints a line of progress. */
  readonly say: (line: string) => void
}

export const USAGE = `Usage: npm run chaos -- [options]

Starts a host with two processes of each service. Kills, stops and freezes them and adds hostile MCP servers while
sessions chat and call tools. Checks the whole stream of every client against the log and the journals of the tool servers.

  --turns N       continue until N turns have ended and --faults have hit a running turn (500)
  --faults N      … and N faults have hit a running turn (100)
  --seconds N     continue for N seconds instead
  --kill LIST     processes to strike: all, or some of ${TARGETS.join(', ')}, separated by commas (all)
  --signal LIST   kinds of faults, separated by commas: all, or some of kill (-9), term, stop (SIGSTOP for 8 s),
                  hostile-server (an MCP server that misbehaves is added, whatever --kill says); default: these.
                  disk-full: nats-server can store nothing for 6 s; needs root. corrupt: nats-server is killed, and
                  the newest data of its session log is cut off, overwritten or deleted; messages that a reported
                  loss explains are counted and not checked. clock: SIGTERM of a service whose clock is 1 s, 5 s or
                  60 s off when it starts again. term-one-instance, alone: SIGTERM of one service after
                  another, with one instance of each, whose successor starts first
  --sessions N    number of sessions (20)
  --pages N       follow N sessions in pages of the web UI, whose text must equal the history (0); needs Chromium
  --logins N      the users of N sessions log in at an MCP server whose tokens end after 3 s, and call its tools, too (5;
                  0 with --pages or --compose); each session authenticates as a separate principal, unless N is 0
  --seed N        repeats the faults and messages of the run with this seed; default: random
  --auth          each session authenticates as a separate principal, with limits and an audit log; every tool
                  call must have its entries in the log
  --accounts      each service has its own account at nats-server
  --compose       the host of docker-compose.yml with three containers of each service, instead of processes; implies
                  --auth; faults: kill, term and stop (docker pause)
  --cluster       three nats-servers that replicate the data, instead of one
  --keep          keep the folder of logs and streams even without violations
  --help          print this text

Exit code: 0 without violations, 1 with violations, 2 for wrong options.
`

/** Returns `undefined` when the usage is asked for. Throws one `UsageError` for all wrong options. */
export function parseOptions(
  args: readonly string[],
  random: () => number = Math.random,
): Omit<ChaosOptions, 'say'> | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      turns: { type: 'string' },
      faults: { type: 'string' },
      seconds: { type: 'string' },
      kill: { type: 'string' },
      signal: { type: 'string' },
      sessions: { type: 'string' },
      pages: { type: 'string' },
      logins: { type: 'string' },
      seed: { type: 'string' },
      auth: { type: 'boolean' },
      accounts: { type: 'boolean' },
      compose: { type: 'boolean' },
      cluster: { type: 'boolean' },
      keep: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const problems: string[] = []
  type NumberName = 'turns' | 'faults' | 'seconds' | 'sessions' | 'pages' | 'logins' | 'seed'
  const integer = <T>(
    name: NumberName,
    fallback: T,
    min: number,
    max = 2 ** 32 - 1,
  ): number | T => {
    const text = values[name]
    if (text === undefined) return fallback
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    problems.push(`--${name} must be a whole number from ${min} to ${max}, not "${text}"`)
    return fallback
  }
  const some = <T extends string>(name: 'kill' | 'signal', all: readonly T[]): readonly T[] => {
    const text = values[name] ?? 'all'
    if (text === 'all') return all
    const chosen = text.split(',')
    const unknown = chosen.filter((each) => !all.some((known) => known === each))
    if (unknown.length > 0) {
      problems.push(
        `--${name} must be all or some of ${all.join(', ')}, not "${unknown.join(',')}"`,
      )
    }
    return all.filter((each) => chosen.includes(each))
  }

  const { seconds, turns, faults, signal } = values
  const isRolling = signal === ROLLING
  const isCompose = values.compose === true
  if (seconds !== undefined && (turns !== undefined || faults !== undefined)) {
    problems.push('--seconds excludes --turns and --faults: give one or the other')
  }
  const chosenKinds = (): readonly FaultKind[] => {
    if (isRolling) return [ROLLING]
    if (signal !== undefined) return some('signal', isCompose ? PROCESS_FAULTS : ALL_FAULT_KINDS)
    return isCompose ? PROCESS_FAULTS : FAULT_KINDS
  }
  const sessions = integer('sessions', 20, 1, MAX_SESSIONS)
  const pages = integer('pages', 0, 0, MAX_PAGES)
  const logins = pages > 0 || isCompose ? 0 : Math.min(LOGINS, sessions)
  const options = {
    turns: integer('turns', 500, 1),
    faults: integer('faults', 100, 0),
    seconds: integer('seconds', undefined, 1, 86_400),
    sessions,
    pages,
    logins: integer('logins', logins, 0, MAX_SESSIONS),
    seed: integer('seed', between(random, 0, 999_999), 0),
    // Without its only nats-server a host has an outage.
    targets: some('kill', TARGETS).filter((target) => !isRolling || target !== 'nats'),
    kinds: chosenKinds(),
    hasAuth: values.auth === true || isCompose,
    hasAccounts: values.accounts === true,
    isCompose,
    natsServers: values.cluster === true ? 3 : 1,
    isKept: values.keep === true,
  }
  problems.push(...conflicts(options))
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return values.help === true ? undefined : options
}

/** The options that exclude each other. */
function conflicts(options: Omit<Required<ChaosOptions>, 'say' | 'seconds'>): string[] {
  const problems: string[] = []
  if (options.kinds.includes('corrupt') && options.natsServers > 1) {
    problems.push('--signal corrupt excludes --cluster, whose other servers have the data')
  }
  if (options.pages > options.sessions) {
    problems.push('--pages must be at most --sessions: each page follows a session')
  }
  if (options.logins > options.sessions) {
    problems.push('--logins must be at most --sessions: each login is that of a session')
  }
  if (options.logins > 0 && (options.pages > 0 || options.isCompose)) {
    problems.push('--logins excludes --pages, which do not log in, and --compose')
  }
  if (options.pages > 0 && (options.hasAuth || options.kinds.includes('corrupt'))) {
    problems.push(
      '--pages excludes --auth and --signal corrupt: pages do not log in, nor know of losses',
    )
  }
  if (options.isCompose && (options.kinds.includes(ROLLING) || options.natsServers > 1)) {
    problems.push(`--compose excludes --cluster and --signal ${ROLLING}`)
  }
  return problems
}
