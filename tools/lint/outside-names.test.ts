import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const REFUSED = [
  'bundles[name]',
  'servers[offering.server]',
  'kinds[String(method)]',
  'all?.[model.id]',
  'name in own',
]
const ACCEPTED = [
  'ownValue(bundles, name)',
  "'id' in frame",
  'list[index]',
  'limits[kind]',
  "env['HOME']",
]

test('the linter refuses lookups by outside names, and no others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outside-names-'))
  try {
    const plugin = join(import.meta.dirname, 'outside-names.ts')
    const config = { jsPlugins: [plugin], rules: { 'outside-names/no-lookup': 'error' } }
    writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify(config))
    const file = join(folder, 'file.ts')
    writeFileSync(file, [...REFUSED, ...ACCEPTED].map((code) => `use(${code})\n`).join(''))
    const oxlint = join(import.meta.dirname, '../../node_modules/.bin/oxlint')
    const { stdout } = spawnSync(oxlint, ['-f', 'unix', '--config', '.oxlintrc.json', file], {
      cwd: folder,
      encoding: 'utf8',
    })
    const lines = Array.from(stdout.matchAll(/:(\d+):\d+: .*outside-names/g), ([, line]) =>
      Number(line),
    )
    expect(lines).toEqual(REFUSED.map((_, index) => index + 1))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
