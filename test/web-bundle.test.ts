// The size of the web UI.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { buildWeb, webFolder } from '../tools/web/build-web.ts'

const FIRST_LOAD_LIMIT = 150 * 1024

let folder: string
/** What the page names, so that each browser loads it first. */
let files: string[]
beforeAll(async () => {
  folder = webFolder()
  await buildWeb(folder)
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  files = Array.from(page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g), ([, file = '']) => file)
})

const compressedSize = (file: string): number =>
  gzipSync(readFileSync(join(folder, file)), { level: 9 }).length
const sizeOf = (list: readonly string[]): number =>
  list.reduce((sum, file) => sum + compressedSize(file), 0)
const inKilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1).padStart(6)} KB`

test('what a browser loads first is at most 150 KB compressed', () => {
  expect(new Set(files.map((file) => file.split('.').at(-1)))).toEqual(
    new Set(['css', 'js', 'svg']),
  )
  expect(sizeOf(files)).toBeLessThanOrEqual(FIRST_LOAD_LIMIT)
  // The development version of React is larger, and slow.
  const code = files
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
  expect(code.join('')).not.toContain('React DevTools for a better development')
})

test('the page has no script or style of its own, which its policy would refuse', () => {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  expect(page).not.toMatch(/<script(?![^>]*\bsrc="\/assets\/)|<style|\son\w+=|\sstyle=/)
})

test('the sizes of the first load and of each lazy part are printed', () => {
  const all = globSync('assets/*.{js,css,svg}', { cwd: folder })
  const lazy = all.filter((file) => !files.includes(file))
  expect(all).toEqual(expect.arrayContaining(files))
  // The largest library is loaded only by chats with math.
  expect(lazy).toContainEqual(expect.stringContaining('/temml-'))
  const parts = lazy
    .map((file) => [file, compressedSize(file)] as const)
    .toSorted(([, one], [, other]) => other - one)
  const lines = [
    `${inKilobytes(sizeOf(files))} first load`,
    ...parts.map(([file, size]) => `${inKilobytes(size)} ${file}`),
  ]
  process.stdout.write(`Sizes of the web UI, compressed by gzip:\n${lines.join('\n')}\n`)
})
