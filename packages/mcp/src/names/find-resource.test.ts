import { expect, test } from 'vitest'

import { findResource, qualifyTemplate, qualifyUri, type ResourceLists } from './find-resource.ts'

const lists = (
  name: string,
  uris: readonly string[],
  templates: readonly string[] = [],
): ResourceLists => ({
  name,
  resources: new Map(uris.map((uri) => [uri, { uri, name: uri }])),
  resourceTemplates: new Map(
    templates.map((uriTemplate) => [uriTemplate, { uriTemplate, name: uriTemplate }]),
  ),
})

test('a server that lists a URI precedes one with a matching template', () => {
  const servers = [lists('a', [], ['x://{id}']), lists('b', ['x://1'])]
  expect(findResource('x://1', servers)).toEqual([{ server: 'b', uri: 'x://1' }])
})

test('all servers that list a URI are found, in their order', () => {
  const servers = [lists('b', ['x:']), lists('c', []), lists('a', ['x:'])]
  expect(findResource('x:', servers)).toEqual([
    { server: 'b', uri: 'x:' },
    { server: 'a', uri: 'x:' },
  ])
})

test('a URI that no server lists is of the server with a matching template', () => {
  const servers = [lists('a', ['y:'], ['x://{id}/b']), lists('b', ['z:'], ['x://{id}/c'])]
  expect(findResource('x://1/c', servers)).toEqual([{ server: 'b', uri: 'x://1/c' }])
})

test.each([
  ['x://{+path}', 'x://a/b', true],
  ['x://{a}{b}/c{?d,e}', 'x://1/c', true],
  ['x://{a}{b}/c{?d,e}', 'x://1/c?d=2', true],
  ['x://{list*}/c', 'x://1,2/c', true],
  ['x://*/{a}', 'x://1/2', false],
  ['x://{a}/b', 'x://1/b/', false],
  ['x://{a}/b', 'y://1/b', false],
  ['x://{{a}}', 'x://1', false],
])('the template "%s" matches the URI "%s": %s', (template, uri, isMatching) => {
  // Both servers are candidates when the template does not match.
  const servers = [lists('a', [], [template]), lists('b', [uri.slice(1)])]
  expect(findResource(uri, servers).map(({ server }) => server)).toEqual(
    isMatching ? ['a'] : ['a', 'b'],
  )
})

test('a template of many expressions is fast on a URI that almost matches', () => {
  const servers = [lists('a', [], [`${'{a}{b}x'.repeat(200)}!`]), lists('b', [], ['{'.repeat(1e6)])]
  expect(findResource('x'.repeat(100_000), servers)).toHaveLength(2)
})

test('an invalid template matches nothing', () => {
  const servers = [lists('a', [], ['x://{id']), lists('b', [], ['x://{id}'])]
  expect(findResource('x://1', servers)).toEqual([{ server: 'b', uri: 'x://1' }])
})

test('any other URI may be of all servers with resources', () => {
  const servers = [lists('a', ['y:']), lists('none', []), lists('b', [], ['t://{x}'])]
  expect(findResource('x:', servers).map(({ server }) => server)).toEqual(['a', 'b'])
  expect(findResource('x:', [lists('none', [])])).toEqual([])
})

test('a URI that is qualified with a server is of that server', () => {
  const servers = [lists('a-1', ['x://1?q=ü']), lists('b', ['x://1?q=ü'])]
  const address = `mcp://b/${encodeURIComponent('x://1?q=ü')}`
  expect(findResource(address, servers)).toEqual([{ server: 'b', uri: 'x://1?q=ü' }])
  expect(findResource('mcp://b/%E0%A4%A', servers)).toEqual([])
})

test('a qualified URI of an unknown server is a URI like any other', () => {
  const servers = [lists('a', ['mcp://other/x'])]
  expect(findResource('mcp://other/x', servers)).toEqual([{ server: 'a', uri: 'mcp://other/x' }])
})

test.each(['x://1?q=ü', 'ui://page/1', 'mcp://b/x', 'ui://b/ui%3A%2F%2Fx'])(
  'the URI %s, qualified, is found at its server',
  (uri) => {
    const servers = [lists('a', [uri]), lists('b', [uri])]
    expect(findResource(qualifyUri('b', uri), servers)).toEqual([{ server: 'b', uri }])
  },
)

test('a page of an app keeps its scheme when it is qualified', () => {
  expect(qualifyUri('a', 'ui://page')).toBe('ui://a/ui%3A%2F%2Fpage')
  const servers = [lists('a', ['ui://a/b']), lists('b', [])]
  expect(findResource('ui://a/b', servers)).toEqual([{ server: 'a', uri: 'ui://a/b' }])
})

test.each([
  ['x://{id}/b', 'x://a%2Fb%20c/b'],
  ['ui://{page}', 'ui://a%2Fb'],
])('a qualified template %s expands to a URI that its server accepts', (template, uri) => {
  const servers = [lists('a', [], [template]), lists('b', [], [template])]
  const expanded = qualifyTemplate('b', template).replace(/\{\w+\}/, uri.split('/')[2] ?? '')
  expect(findResource(expanded, servers)).toEqual([{ server: 'b', uri }])
})

test('a server with the resources capability may have a URI without listing it', () => {
  const servers = [{ ...lists('a', []), hasResources: true }, lists('b', [])]
  expect(findResource('x:', servers)).toEqual([{ server: 'a', uri: 'x:' }])
})

test('a URI with the name of a server and a dot is of that server', () => {
  const servers = [lists('a', ['x://1']), lists('b', ['x://1'])]
  expect(findResource('b.x://1', servers)).toEqual([{ server: 'b', uri: 'x://1' }])
  expect(findResource('c.x://1', servers)).toHaveLength(2)
  const own = [...servers, lists('c', ['b.x://1'])]
  expect(findResource('b.x://1', own)).toEqual([{ server: 'c', uri: 'b.x://1' }])
})

test.each([
  ['a template of anything', ['{+all}'], ['notes://{id}'], 'notes://1'],
  [
    'a wider template',
    ['notes://{+all}'],
    ['notes://{owner}/private/{id}'],
    'notes://me/private/1',
  ],
  ['several wider templates', ['{+all}', 'notes://{id}'], ['notes://a/{id}'], 'notes://a/1'],
])(
  '%s of another server does not take a read that a narrower one means',
  (_, wide, narrow, uri) => {
    const servers = [lists('wide', [], wide), lists('narrow', [], narrow)]
    expect(findResource(uri, servers)).toEqual([{ server: 'narrow', uri }])
    expect(findResource(uri, servers.toReversed())).toEqual([{ server: 'narrow', uri }])
  },
)

test('templates of the same width leave a URI ambiguous', () => {
  const servers = [lists('a', [], ['x://{id}']), lists('b', [], ['x://{name}'])]
  expect(findResource('x://1', servers).map(({ server }) => server)).toEqual(['a', 'b'])
})
