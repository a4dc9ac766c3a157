import { expect, test } from 'vitest'

import { resolveLinks } from './resolve-links.ts'

const PAGE = 'https://docs.example/a/b.html'

test.each([
  ['<a class="x" href="../c?d=1&amp;e">', '<a class="x" href="https://docs.example/c?d=1&amp;e">'],
  [`<A HREF='c'>`, '<A HREF="https://docs.example/a/c">'],
  ['<img src=/d.png alt=x>', '<img src="https://docs.example/d.png" alt=x>'],
  ['<a href="#part">', '<a href="https://docs.example/a/b.html#part">'],
  ['<a href="mailto:a@b.example">', '<a href="mailto:a@b.example">'],
  ['<a href="javascript:alert(1)">', '<a href="#">'],
  ['<img src="data:image/png;base64,AAAA">', '<img src="#">'],
  ['<a data-href="c" href="d">', '<a data-href="c" href="https://docs.example/a/d">'],
  ['<abbr href="c">', '<abbr href="c">'],
  ['<base href="/z/"><a href="c">', '<base href="/z/"><a href="https://docs.example/z/c">'],
])('in %s the link is resolved', (html, expected) => {
  expect(resolveLinks(html, PAGE)).toBe(expected)
})

test('a long base makes no small page large', () => {
  const html = '<a href=x>'.repeat(100_000)
  expect(resolveLinks(html, `https://docs.example/${'y'.repeat(2_000)}`).length).toBeLessThan(
    50_000_000,
  )
  expect(resolveLinks(html, `https://docs.example/${'y'.repeat(3_000)}`)).toBe(html)
})
