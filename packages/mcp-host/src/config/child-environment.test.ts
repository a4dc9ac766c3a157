import { describe, expect, test } from 'vitest'

import { childEnvironment } from './child-environment.ts'

test('a child gets the safe part of our environment and what is configured, which wins', () => {
  const parent = { HOME: '/me', PATH: '/bin', TOKEN: 'secret', USER: undefined, Lang: 'x' }
  expect(childEnvironment(parent, { PATH: '/own', KEY: 'x' }, 'linux')).toEqual({
    HOME: '/me',
    PATH: '/own',
    KEY: 'x',
  })
})

test('a shell function is not handed on', () => {
  expect(childEnvironment({ TERM: '() { :; }; id' }, {}, 'linux')).toEqual({})
})

test('on Windows names have no case', () => {
  const parent = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', Token: 'secret', HOME: 'C:\\me' }
  expect(childEnvironment(parent, {}, 'win32')).toEqual({
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
  })
})

test('on Windows a configured variable leaves none of its name beside it', () => {
  const env = childEnvironment({ Path: 'C:\\bin', TEMP: 'C:\\t' }, { PATH: 'C:\\own' }, 'win32')
  expect(env).toEqual({ PATH: 'C:\\own', TEMP: 'C:\\t' })
})

describe('a child', () => {
  const given = (parent: Record<string, string>, platform: NodeJS.Platform = 'linux') =>
    childEnvironment(parent, {}, platform)

  test('gets the proxies and the certificate authorities, in both spellings', () => {
    const parent = {
      HTTP_PROXY: 'http://me:pw@proxy:3128',
      https_proxy: 'http://proxy:3128',
      NO_PROXY: 'localhost',
      no_proxy: 'localhost',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      SSL_CERT_FILE: '/ca.pem',
      SSL_CERT_DIR: '/certs',
    }
    expect(given(parent)).toEqual(parent)
    expect(given({ Https_Proxy: 'http://proxy:3128' }, 'win32')).toHaveProperty('Https_Proxy')
  })

  test('gets the settings of npm, pnpm, uv and pip', () => {
    const parent = {
      npm_config_registry: 'https://npm.example.com/',
      NPM_CONFIG_CAFILE: '/ca.pem',
      npm_config_https_proxy: 'http://me:pw@proxy:3128',
      UV_DEFAULT_INDEX: 'https://pypi.example.com/simple',
      PIP_INDEX_URL: 'https://pypi.example.com/simple',
      PIP_CERT: '/ca.pem',
    }
    expect(given(parent)).toEqual(parent)
  })

  test.each([
    'npm_config__authToken',
    'npm_config_//npm.example.com/:_authToken',
    'NPM_CONFIG__AUTH',
    'npm_config__password',
    'npm_config_key',
    'npm_config_otp',
    'UV_PUBLISH_TOKEN',
    'UV_INDEX_PRIVATE_PASSWORD',
    'YARN_NPM_AUTH_TOKEN',
    'BUN_CONFIG_TOKEN',
    'PIPER',
  ])('does not get %s', (name) => {
    expect(given({ [name]: 'x' })).toEqual({})
  })

  test('gets no second spelling of a proxy that is configured for it', () => {
    const parent = { HTTPS_PROXY: 'http://proxy:3128', https_proxy: 'http://proxy:3128' }
    expect(childEnvironment(parent, { HTTPS_PROXY: '' }, 'linux')).toEqual({ HTTPS_PROXY: '' })
  })

  test('does not get an index with a user name or a password in its address', () => {
    const address = 'https://me:pw@pypi.example.com/simple'
    expect(given({ PIP_INDEX_URL: address, npm_config_registry: address })).toEqual({})
  })
})
