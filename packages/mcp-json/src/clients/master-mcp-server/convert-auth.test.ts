import { describe, expect, test } from 'vitest'

import { BYPASS, FILE, lines, readMaster, server } from '../../../test/read-master.ts'
import { parseMcpConfig } from '../../parse-mcp-config.ts'

describe('a login', () => {
  const CLIENT = 'client_id: "${ID}", client_secret: "env:SECRET"'
  const ENDPOINTS =
    'authorization_endpoint: "https://l.example/a", token_endpoint: "https://l.example/t/token"'
  const remote = (fields: string): string => server(`config: { port: 1 }, ${fields}`)
  const proxy = (fields: string): string =>
    remote(`auth_strategy: proxy_oauth, auth_config: { ${fields} }`)

  test('proxy_oauth logs users in with the endpoints of the file', () => {
    const { servers, warnings } = readMaster(
      proxy(`provider: custom, ${ENDPOINTS}, ${CLIENT}, scopes: [read, "env:ID"]`),
    )
    expect(servers['a']).toMatchObject({
      auth: {
        type: 'oauth',
        issuer: 'https://l.example',
        authorizationEndpoint: 'https://l.example/a',
        tokenEndpoint: 'https://l.example/t/token',
        clientId: 'host',
        clientSecret: 'top',
        scope: 'read host',
      },
      secrets: { ID: 'host', SECRET: 'top' },
    })
    expect(warnings).toEqual([expect.stringContaining('is taken for https://l.example')])
  })

  test('the issuer of the file counts, and a field that is not known is ignored', () => {
    const { servers, warnings } = readMaster(
      proxy(`issuer: "https://i.example", ${ENDPOINTS}, ${CLIENT}, prompt: login, scopes: []`),
    )
    expect(servers['a']).toMatchObject({ auth: { issuer: 'https://i.example' } })
    expect(servers['a']).not.toHaveProperty('auth.scope')
    expect(warnings).toEqual([
      expect.stringMatching(/^3:\d+ servers\[0\].auth_config.prompt: is not a known field/),
    ])
  })

  test.each([
    ['github', 'https://github.com', 'https://github.com/login/oauth/access_token'],
    ['google', 'https://accounts.google.com', 'https://oauth2.googleapis.com/token'],
  ])('the endpoints of %s may be left out', (provider, issuer, tokenEndpoint) => {
    const { servers } = readMaster(proxy(`provider: ${provider}, ${CLIENT}`))
    expect(servers['a']).toMatchObject({ auth: { issuer, tokenEndpoint } })
  })

  test('delegate_oauth is a login, too, for which users may bring tokens', () => {
    const { servers } = readMaster(
      remote(`auth_strategy: delegate_oauth, auth_config: { ${ENDPOINTS}, ${CLIENT} }`),
    )
    expect(servers['a']).toMatchObject({ auth: { type: 'oauth', issuer: 'https://l.example' } })
  })

  const MASTER = `master_oauth: { ${ENDPOINTS}, ${CLIENT}, scopes: [a, b], redirect_uri: x`
  test('master_oauth exchanges tokens at the authorization server of the file', () => {
    const { servers, warnings } = readMaster(
      lines(
        remote('auth_strategy: master_oauth'),
        '  - { id: b, url: "http://b.example", auth_strategy: master_oauth, auth_config: {} }',
        `${MASTER}, audience: notes, jwks_uri: y }`,
      ),
    )
    const auth = {
      type: 'token-exchange',
      issuer: 'https://l.example',
      tokenEndpoint: 'https://l.example/t/token',
      clientId: 'host',
      clientSecret: 'top',
      audience: 'notes',
      scope: 'a b',
    }
    expect(servers).toMatchObject({ a: { auth }, b: { auth } })
    expect(warnings).toEqual([
      '4:81 servers[1].auth_config: has no meaning beside "master_oauth" and is ignored',
      expect.stringContaining('master_oauth.authorization_endpoint: is not needed'),
      expect.stringContaining('master_oauth.issuer: is missing'),
      expect.stringContaining('master_oauth.redirect_uri: is not needed'),
      expect.stringContaining('master_oauth.jwks_uri: is not needed'),
    ])
  })

  test('master_oauth without a server that uses it is ignored with a warning', () => {
    const { warnings } = readMaster(lines(remote(BYPASS), `${MASTER} }`))
    expect(warnings).toEqual([expect.stringMatching(/^4:15 master_oauth: is ignored, since no/)])
  })

  test.each([
    ['auth_strategy: proxy_oauth', '3:50 servers[0].auth_config: is missing'],
    ['auth_strategy: master_oauth', '3:50 master_oauth: is missing'],
    [
      'auth_strategy: proxy_oauth, auth_config: x',
      '3:76 servers[0].auth_config: must be an object',
    ],
    ['auth_strategy: none', '3:50 servers[0].auth_strategy: is not a known strategy'],
    ['tools: {}', '3:5 servers[0].auth_strategy: is missing'],
    [
      'auth_strategy: proxy_oauth, auth_config: { client_id: x, token_endpoint: "https://a" }',
      '3:76 servers[0].auth_config.authorization_endpoint: is missing',
    ],
    [
      `auth_strategy: proxy_oauth, auth_config: { ${ENDPOINTS}, client_id: x, scopes: [1] }`,
      '3:192 servers[0].auth_config.scopes: must be a list of texts',
    ],
    [
      'auth_strategy: proxy_oauth, auth_config: { provider: github, token_endpoint: "env:T", client_id: x }',
      '3:76 servers[0].auth_config.issuer: is missing, and does not follow from the variable in the endpoint',
    ],
    [
      'auth_strategy: proxy_oauth, auth_config: { provider: github, token_endpoint: t, client_id: x }',
      '3:112 servers[0].auth_config.token_endpoint: is not a valid URL',
    ],
    [
      'auth_strategy: proxy_oauth, auth_config: { provider: github, client_id: "${NO}" }',
      '3:107 servers[0].auth_config.client_id: uses NO, which is not set',
    ],
  ])('%s is a fault', (fields, expected) => {
    expect(readMaster(remote(fields)).faults).toEqual([expected])
  })

  test('a fault in master_oauth is one of the whole file, and there once', () => {
    const text = lines(
      remote('auth_strategy: master_oauth'),
      '  - { id: b, url: "http://b.example", auth_strategy: master_oauth }',
      `master_oauth: { ${ENDPOINTS}, client_id: "env:NO" }`,
    )
    expect(() => readMaster(text)).toThrow(
      /one fault:\n.*:5:\d+ master_oauth.client_id: uses NO, which is not set\. .*$/,
    )
  })

  test.each([
    ['proxy_oauth', /"auth" and in it the "variable"/],
    ['master_oauth', /"bypass_auth"/],
    ['delegate_oauth', /"auth" and in it the "variable"/],
  ])('a program with %s is a fault', (strategy, remedy) => {
    const text = server(`type: npm, package: x, auth_strategy: ${strategy}`)
    const { faulty } = parseMcpConfig(text, { file: FILE })
    expect(faulty).toMatchObject({
      a: [
        {
          line: 3,
          column: 52,
          path: 'servers[0].auth_strategy',
          message: 'sends a token, which a program does not get',
          remedy: expect.stringMatching(remedy),
        },
      ],
    })
  })

  test('auth_config of a server without a login is ignored with a warning', () => {
    const { warnings } = readMaster(remote(`${BYPASS}, auth_config: { client_id: x }`))
    expect(warnings).toEqual([expect.stringContaining('has no meaning beside "bypass_auth"')])
  })
})
