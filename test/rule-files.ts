import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const prometheusFolder = join(
  import.meta.dirname,
  '..',
  'deploy',
  'observability',
  'prometheus',
)

export interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** The parsed YAML files of a folder of `deploy/observability/prometheus`, as promtool accepts them. */
export function readYaml<T>(folder: 'rules' | 'tests'): T[] {
  return globSync(`${folder}/*.yml`, { cwd: prometheusFolder })
    .toSorted()
    .map((file) => parse(readFileSync(join(prometheusFolder, file), 'utf8')) as T)
}

/** All rules in the order of the files. */
export function readRules(): Rule[] {
  type File = { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
  return readYaml<File>('rules').flatMap(({ groups }) => groups.flatMap(({ rules }) => rules))
}
