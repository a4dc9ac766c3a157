// The design tokens of the HTML pages of the gateway against those of the web UI.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const WEB_TOKENS = 'packages/web/src/styles/tokens.css'
const gatewayTokens = read('services/gateway/src/pages/tokens.ts')

/** A value without the line breaks of the formatter. */
const onOneLine = (value: string): string =>
  value.trim().replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')')

/** The tokens of a style sheet that has them in `:root` and in media queries, as `query|name: value`. */
function tokensOf(css: string): string[] {
  const text = css.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll('"', "'")
  const blocks = text.matchAll(/(?:@media ([^{]+?)\s*\{\s*)?:root\s*\{([^}]*)\}/g)
  return Array.from(blocks).flatMap(([, query = '', body = '']) =>
    Array.from(
      body.matchAll(/(--[\w-]+):\s*([^;]+);/g),
      ([, name, value = '']) => `${query}|${name}: ${onOneLine(value)}`,
    ),
  )
}

test('a token of the gateway has the value that it has in the web UI', () => {
  const own = tokensOf(gatewayTokens)
  expect(own.length).toBeGreaterThan(40)
  const missing = own.filter((each) => !tokensOf(read(WEB_TOKENS)).includes(each))
  expect(missing).toEqual([])
})

test('the styles of the gateway use every token, and no other variable', () => {
  const styles = ['pages', 'auth/pages', 'http'].flatMap((folder) =>
    globSync(`services/gateway/src/${folder}/*style.ts`, { cwd: root }),
  )
  expect(styles).toHaveLength(3)
  const used = styles.flatMap((file) => read(file).match(/(?<=var\()--[\w-]+/g) ?? [])
  const names = gatewayTokens.match(/^ {2}--[\w-]+/gm)?.map((each) => each.trim())
  expect(new Set(used)).toEqual(new Set(names))
})
