import { parseArgs } from 'node:util'
import { between } from './random.ts'
import { ALL_FAULT_KINDS, FAULT_KINDS, ROLLING, TARGETS } from './faults.ts'
import type { FaultKind } from './faults.ts'
import type { ChaosOptions } from './run-chaos.ts'

const MOST_SESSIONS = 500

export const USAGE = `Usage: npm run chaos -- [options]

Kills, stops and freezes processes of a host of its own (two of each service), and gives it hostile MCP
servers, while sessions chat with tools; checks every client's whole stream against the log and the tool servers' journals.

  --turns N       go on until N turns have ended and --faults have landed (500)
  --faults N      … and N faults have landed in mid-turn (100)
  --seconds N     go on for N seconds instead
  --kill LIST     what is struck: all, or some of ${TARGETS.join(', ')}, by commas (all)
  --signal LIST   how: all, or some of kill (-9), term, stop (SIGSTOP for 8 s), hostile-server (an MCP
                  server that misbehaves stands beside the others, whatever --kill says), by commas (these);
                  and disk-full (nats-server can store nothing for 6 s; takes root), corrupt (nats-server is
                  killed and the newest data of its session log cut off, overwritten or deleted; messages
                  that a reported loss explains are counted and not checked); or term-one-instance alone:
                  SIGTERM of one service after another, with one instance of each whose successor starts first
  --sessions N    how many sessions chat (20)
  --seed N        the faults and messages of an earlier run; by chance when it is not given
  --cluster       three nats-servers that keep the data together, instead of one
  --keep          keep the folder of logs and streams also when all is well
  --help          this text

Exit code: 0 when all is well, 1 when a rule was broken, 2 for faulty options.`

export type ParsedOptions =
  | { readonly isHelp: boolean; readonly options: Omit<ChaosOptions, 'say'> }
  | { readonly problems: readonly string[] }

/** What the command line asks for, or everything that is wrong with it. */
export function parseOptions(
  args: readonly string[],
  random: () => number = Math.random,
): ParsedOptions {
  const problems: string[] = []
  let values: Partial<Record<string, string | boolean>>
  try {
    values = parseArgs({
      args: [...args],
      options: {
        turns: { type: 'string' },
        faults: { type: 'string' },
        seconds: { type: 'string' },
        kill: { type: 'string' },
        signal: { type: 'string' },
        sessions: { type: 'string' },
        seed: { type: 'string' },
        cluster: { type: 'boolean' },
        keep: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    // It says which option is not known or has no value.
    return { problems: [(error as Error).message] }
  }

  const whole = <T>(name: string, fallback: T, low: number, high = 2 ** 32 - 1): number | T => {
    const text = values[name]
    if (text === undefined) return fallback
    const value = Number(text)
    if (/^\d+$/.test(String(text)) && value >= low && value <= high) return value
    problems.push(`--${name} must be a whole number from ${low} to ${high}, not "${text}"`)
    return fallback
  }
  const some = <T extends string>(name: string, all: readonly T[]): readonly T[] => {
    const text = String(values[name] ?? 'all')
    if (text === 'all') return all
    const chosen = text.split(',')
    const isKnown = (each: string): boolean => all.some((known) => known === each)
    const unknown = chosen.filter((each) => !isKnown(each))
    if (unknown.length > 0) {
      problems.push(
        `--${name} must be all or some of ${all.join(', ')}, not "${unknown.join(',')}"`,
      )
    }
    return all.filter((each) => chosen.includes(each))
  }

  const isRolling = values['signal'] === ROLLING
  const isTimed = values['seconds'] !== undefined
  if (isTimed && (values['turns'] !== undefined || values['faults'] !== undefined)) {
    problems.push('--seconds excludes --turns and --faults: give one or the other')
  }
  const chosenKinds = (): readonly FaultKind[] =>
    values['signal'] === undefined ? FAULT_KINDS : some('signal', ALL_FAULT_KINDS)
  const options = {
    turns: whole('turns', 500, 1),
    faults: whole('faults', 100, 0),
    seconds: whole('seconds', undefined, 1, 86_400),
    sessions: whole('sessions', 20, 1, MOST_SESSIONS),
    seed: whole('seed', between(random, 0, 999_999), 0),
    // With its only nats-server the host is away.
    targets: some('kill', TARGETS).filter((target) => !isRolling || target !== 'nats'),
    kinds: isRolling ? ([ROLLING] as const) : chosenKinds(),
    natsServers: values['cluster'] === true ? 3 : 1,
    isKept: values['keep'] === true,
  }
  if (options.kinds.includes('corrupt') && options.natsServers > 1) {
    problems.push('--signal corrupt excludes --cluster, whose other servers have the data')
  }
  if (problems.length > 0) return { problems }
  return { isHelp: values['help'] === true, options }
}
