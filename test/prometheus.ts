import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { eventually, testFolder } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import { prometheusFolder } from './rule-files.ts'

/** A minute of the rules takes so long in the test. */
const MINUTE_MS = 2_000
const SCRAPE_MS = 500

/** A Prometheus with the alert rules, whose windows and periods are shorter. */
export interface Prometheus extends AsyncDisposable {
  /** The URLs of the processes to read. */
  setTargets(urls: readonly string[]): Promise<void>
  /** The labels of the alerts that fire. */
  firing(): Promise<Record<string, string>[]>
  /** The value of an expression with one result; `undefined` without one. */
  value(expression: string): Promise<number | undefined>
}

export async function startPrometheus(bin: string): Promise<Prometheus> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await testFolder())
  const guardian = stack.use(new Guardian())
  await mkdir(join(path, 'rules'))
  for (const file of globSync('rules/*.yml', { cwd: prometheusFolder })) {
    const rules = await readFile(join(prometheusFolder, file), 'utf8')
    await writeFile(join(path, 'rules', basename(file)), shortened(rules))
  }
  const every = `${SCRAPE_MS}ms`
  const config = {
    global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
    rule_files: ['rules/*.yml'],
    scrape_configs: [{ job_name: 'mcp-host', file_sd_configs: [{ files: ['targets.json'] }] }],
  }
  // JSON is YAML.
  await writeFile(join(path, 'prometheus.yml'), JSON.stringify(config))
  const targetsFile = join(path, 'targets.json')
  const setTargets = async (urls: readonly string[]): Promise<void> => {
    const targets = urls.map((url) => new URL(url).host)
    // Renamed into place, so that no half of it is read.
    await writeFile(`${targetsFile}.new`, JSON.stringify([{ targets }]))
    await rename(`${targetsFile}.new`, targetsFile)
  }
  await setTargets([])
  const address = `127.0.0.1:${await freePort()}`
  await spawnGuarded(guardian, {
    command: bin,
    args: [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    cwd: path,
    env: {},
  })
  const ask = async <T>(route: string): Promise<T> => {
    const response = await fetch(`http://${address}/api/v1/${route}`)
    return ((await response.json()) as { data: T }).data
  }
  await eventually(
    () =>
      fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { what: 'Prometheus' },
  )
  const open = stack.move()
  return {
    setTargets,
    async firing() {
      type Alert = { readonly state: string; readonly labels: Record<string, string> }
      const { alerts } = await ask<{ readonly alerts: readonly Alert[] }>('alerts')
      return alerts.flatMap(({ state, labels }) => (state === 'firing' ? [labels] : []))
    },
    async value(expression) {
      type Found = { readonly result: readonly { readonly value: [number, string] }[] }
      const { result } = await ask<Found>(`query?query=${encodeURIComponent(expression)}`)
      return result[0] === undefined ? undefined : Number(result[0].value[1])
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** The rules with minutes of two seconds. */
function shortened(rules: string): string {
  return rules.replaceAll(/\b(\d+)([mh])\b/g, (_, amount: string, unit: string) => {
    const minutes = Number(amount) * (unit === 'h' ? 60 : 1)
    return `${minutes * MINUTE_MS}ms`
  })
}
