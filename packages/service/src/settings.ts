import { ownValue } from '@mcp-host/contracts'
import { z } from 'zod'
import { Secret } from './secret.ts'

/** One setting: its source, type and purpose. */
export interface Setting<T = unknown> {
  /** Name of the environment variable. */
  readonly env: string
  /** Further names, read when the first one is not set. In lower case: read before it, as by curl. */
  readonly aliases?: readonly string[]
  readonly schema: z.ZodType<T>
  /** The default, in the form of an environment variable. */
  readonly default?: string
  /** The description, whose first sentence is used in the documentation. */
  readonly describe: string
  readonly isSecret?: boolean
}

/** All settings of a process, by their names in the code. */
export type Settings = Readonly<Record<string, Setting>>

export type Config<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never
}

/** A setting, with its type inferred from the schema. */
export function setting<T>(options: Setting<T>): Setting<T> {
  return options
}

const wholeNumber = z
  .string()
  .regex(/^-?\d+$/, 'must be a whole number')
  .transform(Number)

/** Schemas for values as they are written in the environment. */
export const values = {
  text: z.string(),
  url: z.url('must be a URL'),
  integer: (min: number, max: number) =>
    wholeNumber.refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
  secret: z.string().transform((value) => new Secret(value)),
  list: z.string().transform((value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
}

/** The error for faulty settings. It lists all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`faulty settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** Finds faults in combinations of settings that are each valid. */
export type CrossCheck<S extends Settings> = (config: Config<S>) => readonly string[]

/** Reads the settings from a flat record. An empty value counts as not set. Throws `ConfigError` with all problems. */
export function loadConfig<S extends Settings>(
  settings: S,
  env: Readonly<Record<string, string | undefined>>,
  check: CrossCheck<S> = () => [],
): Config<S> {
  const problems: string[] = []
  const config: Record<string, unknown> = {}
  for (const [key, each] of Object.entries(settings)) {
    const { env: ownName, aliases = [], schema, default: fallback, isSecret } = each
    const isGiven = (name: string): boolean => (ownValue(env, name) ?? '') !== ''
    const lower = ownName.toLowerCase()
    const names = aliases.includes(lower) ? [lower, ownName] : [ownName, ...aliases]
    const name = names.find(isGiven) ?? ownName
    const given = isGiven(name) ? ownValue(env, name) : undefined
    const parsed = schema.safeParse(given ?? fallback)
    if (parsed.success) {
      config[key] = parsed.data
      continue
    }
    const reason =
      given === undefined ? 'is required' : (parsed.error.issues[0]?.message ?? 'is not valid')
    const shown = given === undefined ? '' : isSecret === true ? ' (not shown)' : `=${given}`
    problems.push(`${name}${shown}: ${reason}`)
  }
  // Without problems every key of S has a value of its schema.
  const complete = config as Config<S>
  if (problems.length === 0) problems.push(...check(complete))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(complete)
}
