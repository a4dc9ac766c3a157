// How the web UI is written: small components, colours in one file, and no style that nothing uses.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const MAX_LINES = 200

const source = join(import.meta.dirname, '..', 'packages', 'web', 'src')
const read = (pattern: string) =>
  globSync(pattern, { cwd: source }).map((file) => ({
    name: basename(file),
    text: readFileSync(join(source, file), 'utf8'),
  }))
const components = read('**/*.tsx')
const styles = read('styles/*.css')
const code = [...components, ...read('**/*.ts')].map(({ text }) => text).join('\n')

/** What a pattern finds in all styles, each once. */
function inStyles(pattern: RegExp): string[] {
  const found = styles.flatMap(({ text }) => Array.from(text.matchAll(pattern), ([, name]) => name))
  return Array.from(new Set(found.filter((name) => name !== undefined)))
}

test('no component has more than 200 lines', () => {
  const long = components.filter(({ text }) => text.split('\n').length > MAX_LINES + 1)
  expect(long.map(({ name }) => name)).toEqual([])
  expect(components.length).toBeGreaterThan(50)
})

test('colours are in tokens.css alone', () => {
  const others = styles.filter(({ name }) => name !== 'tokens.css')
  const colours = others.flatMap(({ name, text }) =>
    Array.from(text.matchAll(/(?:oklch|rgba?|hsla?)\(|: *#[\da-f]{3,8}\b/g), () => name),
  )
  expect(colours).toEqual([])
})

test('columns of text keep the room of their scrollbars at both sides', () => {
  const text = styles.map((style) => style.text).join('\n')
  for (const name of ['turns', 'hello']) {
    const [rule] = new RegExp(`^\\.${name} \\{[^}]*overflow-y: auto[^}]*\\}`, 'm').exec(text) ?? []
    expect(rule).toContain('scrollbar-gutter: stable both-edges')
  }
})

test('styles use only tokens that exist, and every class of them is used', () => {
  const tokens = new Set(inStyles(/^\s*(--[\w-]+):/gm))
  expect(inStyles(/var\((--[\w-]+)/g).filter((name) => !tokens.has(name))).toEqual([])
  const words = new Set(code.match(/[\w-]+/g))
  const classes = inStyles(/(?<=[\s,(>:\])])\.([a-z][\w-]*)(?=[\s,.:>)[{])/g)
  // Parts of a name that a component puts together, and what other libraries write.
  const isOther = (name: string): boolean => /^(?:[im]-|hljs-|align-)/.test(name)
  expect(classes.filter((name) => !words.has(name) && !isOther(name))).toEqual([])
  expect(classes.length).toBeGreaterThan(100)
})
