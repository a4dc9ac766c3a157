// The size of the web UI.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { buildWeb, webFolder } from '../tools/web/build-web.ts'

const FIRST_LOAD_LIMIT = 150 * 1024

let folder: string
beforeAll(async () => {
  folder = await webFolder()
  await buildWeb(folder)
})

test('what a browser loads first is at most 150 KB compressed', () => {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const files = Array.from(
    page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g),
    ([, file = '']) => file,
  )
  expect(new Set(files.map((file) => file.split('.').at(-1)))).toEqual(
    new Set(['css', 'js', 'svg']),
  )
  const sizes = files.map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_LOAD_LIMIT)
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
