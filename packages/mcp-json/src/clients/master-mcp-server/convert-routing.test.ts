import { describe, expect, test } from 'vitest'

import { BYPASS, lines, readMaster, server } from '../../../test/read-master.ts'

describe('several servers with one id', () => {
  const pair = (first: string, second: string, ...others: string[]): string =>
    lines('servers:', `  - { id: a, ${first} }`, `  - { id: a, ${second} }`, ...others)
  const at = (port: number): string => `config: { port: ${port} }, ${BYPASS}`

  test.each([
    ['round_robin', 'round-robin'],
    ['weighted', 'weighted'],
    ['health', 'health-scored'],
  ])('they are instances, with the balance %s', (strategy, balance) => {
    const { servers, warnings } = readMaster(
      pair(at(1), at(2), `routing: { loadBalancer: { strategy: ${strategy} } }`),
    )
    expect(servers).toMatchObject({
      a: {
        url: 'http://localhost:1/mcp',
        instances: [{ url: 'http://localhost:1/mcp' }, { url: 'http://localhost:2/mcp' }],
        balance,
      },
    })
    expect(warnings).toEqual([])
  })

  test('a fault of the second one is one of that server', () => {
    const { faults, servers } = readMaster(
      pair(at(1), `url: "http://\${NO}", ${BYPASS}`, `  - { id: b, ${at(3)} }`).replace(
        'config: { port: 1 }',
        'type: npm, config: { port: 1 }',
      ),
    )
    expect(faults).toEqual(['3:19 servers[1].url: uses NO, which is not set'])
    expect(Object.keys(servers)).toEqual(['b'])
  })

  test('later servers keep their paths in faults', () => {
    const text = pair(
      at(1),
      at(2),
      `  - { id: b, ${at(70_000)} }`,
      '  - { id: c, url: [], config: {} }',
    )
    const { faults } = readMaster(text)
    expect(faults).toEqual([
      '4:30 servers[2].config.port: must be a whole number from 1 to 65535',
      '5:19 servers[3].url: must be a text',
    ])
    const own = readMaster(pair(at(1), at(2), '  - { id: c, command: x, cwd: 7 }'))
    expect(own.faults).toEqual(['4:31 servers[2].cwd: must be a string'])
  })

  test('a fault of a server between them stays one of that server', () => {
    const { faults, servers } = readMaster(
      lines(
        'servers:',
        `  - { id: a, ${at(1)} }`,
        '  - { id: b, url: [], config: {} }',
        `  - { id: a, ${at(2)} }`,
      ),
    )
    expect(faults).toEqual([expect.stringContaining('servers[1].')])
    expect(Object.keys(servers)).toEqual(['a'])
  })

  test('servers that differ in more than the address are a fault', () => {
    const { faults } = readMaster(pair(at(1), `timeoutMs: 5, ${at(2)}`))
    expect(faults).toEqual(['3:11 servers[1].id: is there twice, first as servers[0]'])
  })
})

describe('routing', () => {
  const routed = (routing: string): string =>
    lines(
      server(`config: { port: 1 }, ${BYPASS}`),
      `  - { id: b, url: b.js, ${BYPASS} }`,
      `routing: ${routing}`,
    )

  test('remote servers have the circuit breaker of the file', () => {
    const { servers, warnings } = readMaster(
      routed(
        '{ circuitBreaker: { failureThreshold: 3, successThreshold: 2, recoveryTimeoutMs: 9 } }',
      ),
    )
    expect(servers['a']).toMatchObject({ circuitBreaker: { failures: 3, openMs: 9 } })
    expect(servers['b']).not.toHaveProperty('circuitBreaker')
    expect(warnings).toEqual(['5:69 routing.circuitBreaker.successThreshold: is ignored'])
  })

  test('a fault of the circuit breaker has its place', () => {
    const text = routed('{ circuitBreaker: { failureThreshold: 0 } }')
    expect(() => readMaster(text)).toThrow(
      '5:48 routing.circuitBreaker.failureThreshold: must be more',
    )
  })

  test('what servers do not have is ignored with a warning', () => {
    const { warnings } = readMaster(
      routed(
        '{ retry: { maxRetries: 3 }, constructor: 1, loadBalancer: { strategy: health, x: 1 } }',
      ),
    )
    expect(warnings).toEqual([
      '5:19 routing.retry: is ignored',
      '5:51 routing.constructor: is ignored',
      '5:80 routing.loadBalancer.strategy: has nothing to spread requests over and is ignored',
      '5:91 routing.loadBalancer.x: is ignored',
    ])
    const { warnings: unknown } = readMaster(routed('{ loadBalancer: { strategy: random } }'))
    expect(unknown).toEqual([
      '5:38 routing.loadBalancer.strategy: is not a known strategy and is ignored',
    ])
  })
})
