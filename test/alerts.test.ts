// Alert rules: each has tests, a section of the runbook, and metrics that a service has.
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { declaredMetrics } from '../tools/docs/metrics-reference.ts'
import { metricOfSample, metricsOf } from './promql.ts'
import { prometheusFolder, readRules, readYaml } from './rule-files.ts'

const root = join(import.meta.dirname, '..')
const rules = readRules()
const alerts = rules.filter(({ alert }) => alert !== undefined)
const names = [...new Set(alerts.map(({ alert = '' }) => alert))]
const declared = declaredMetrics()

interface TestFile {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string
      readonly exp_alerts: readonly object[]
    }[]
  }[]
}

test('the alerts cover turns, backlog, workers, servers, breakers, audit log, storage and latency', () => {
  expect(names).toEqual(
    expect.arrayContaining([
      'TurnsFailing',
      'BacklogGrowing',
      'NoWorker',
      'ServerDown',
      'ServerFlapping',
      'BreakerOpen',
      'AuditLagging',
      'StorageFaulty',
      'FirstTextLate',
    ]),
  )
})

test('every alert has a test that sees it fire, and one that does not', () => {
  const checks = readYaml<TestFile>('tests').flatMap(({ tests }) =>
    tests.flatMap((each) => each.alert_rule_test),
  )
  const untested = names.filter((name) => {
    const own = checks.filter(({ alertname }) => alertname === name)
    return (
      own.every(({ exp_alerts }) => exp_alerts.length === 0) ||
      own.every(({ exp_alerts }) => exp_alerts.length > 0)
    )
  })
  expect(untested).toEqual([])
})

test('every alert names its own section of the runbook, and every section has an alert', () => {
  const page = readFileSync(join(root, 'docs/guides/alerts.md'), 'utf8')
  const sections = Array.from(page.matchAll(/^## (\w+)$/gm), ([, title = '']) => title)
  expect(sections.toSorted()).toEqual(names.toSorted())
  for (const { alert = '', annotations, labels } of alerts) {
    expect(annotations).toMatchObject({
      summary: expect.any(String),
      runbook: `docs/guides/alerts.md#${alert.toLowerCase()}`,
    })
    expect(labels?.['severity']).toMatch(/^(page|ticket)$/)
  }
})

test('every metric of a rule is one that a service declares, or the result of an earlier rule', () => {
  const known = new Set(declared.map(({ name }) => name))
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
  const unknown = rules.flatMap(({ expr }) =>
    metricsOf(expr).filter(
      (name) =>
        metricOfSample(name, known) === undefined &&
        !recorded.has(name) &&
        // Those of prom-client; a test compares them with a running host.
        !name.startsWith('process_'),
    ),
  )
  expect(unknown).toEqual([])
})

test('the reference of metrics has every metric of the sources', () => {
  const files = globSync('{services/*,packages/{mcp-bus,service}}/src/**/*.ts', {
    cwd: root,
    exclude: ['**/*.test.ts'],
  })
  const literals = files.flatMap(
    (file) => readFileSync(join(root, file), 'utf8').match(/'mcp_host_\w+'/g) ?? [],
  )
  const written = literals.map((literal) => literal.slice(1, -1)).toSorted()
  expect(declared.map(({ name }) => name)).toEqual(written)
})

const promtool = process.env['PROMTOOL_BIN'] ?? 'promtool'
const isPresent = spawnSync(promtool, ['--version']).status === 0
const skipReason = isPresent ? '' : ' (skipped: there is no promtool on PATH or at PROMTOOL_BIN)'

describe.skipIf(!isPresent)(`promtool${skipReason}`, () => {
  const run = (...args: string[]): string =>
    execFileSync(promtool, args, { cwd: prometheusFolder, encoding: 'utf8', stdio: 'pipe' })
  const filesOf = (folder: string): string[] =>
    globSync(`${folder}/*.yml`, { cwd: prometheusFolder })

  test('promtool accepts the rules', () => {
    expect(run('check', 'rules', '--lint-fatal', ...filesOf('rules'))).toContain('SUCCESS')
  })

  test('promtool sees every alert fire and resolve in the tests of the rules', () => {
    expect(run('test', 'rules', ...filesOf('tests'))).toContain('SUCCESS')
  })
})
