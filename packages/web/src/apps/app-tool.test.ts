import { expect, test } from 'vitest'
import { isForApps, pageOf } from './app-tool.ts'

const tool = (meta: unknown) => ({ name: 'show', inputSchema: {}, _meta: meta })

test.each<[unknown, string | undefined]>([
  [{ ui: { resourceUri: 'ui://a/page' } }, 'ui://a/page'],
  [{ 'ui/resourceUri': 'ui://b' }, 'ui://b'],
  [{ ui: { resourceUri: 'ui://new' }, 'ui/resourceUri': 'ui://old' }, 'ui://new'],
  [{ ui: { visibility: ['app'] } }, undefined],
  [{ ui: { resourceUri: 'https://example.com' } }, undefined],
  [{ ui: { resourceUri: ['ui://a'] } }, undefined],
  [{ ui: 'ui://a' }, undefined],
  [[], undefined],
  [null, undefined],
  [undefined, undefined],
])('the page of a tool with %j is %j', (meta, page) => {
  expect(pageOf(tool(meta))).toBe(page)
})

test.each<[unknown, boolean]>([
  [undefined, true],
  [{ ui: {} }, true],
  [{ ui: { visibility: [] } }, true],
  [{ ui: { visibility: 'model' } }, true],
  [{ ui: { visibility: ['app'] } }, true],
  [{ ui: { visibility: ['model', 'app'] } }, true],
  [{ ui: { visibility: ['model'] } }, false],
])('whether apps may call a tool with %j: %j', (meta, may) => {
  expect(isForApps(tool(meta))).toBe(may)
})
