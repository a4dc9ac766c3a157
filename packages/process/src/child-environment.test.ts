import { describe, expect, test } from 'vitest'

import { childEnvironment } from './child-environment.ts'

test('a child process gets the safe part of the environment, and its configured variables take precedence', () => {
  const parent = { HOME: '/me', PATH: '/bin', TOKEN: 'secret', USER: undefined, Lang: 'x' }
  expect(childEnvironment(parent, { PATH: '/own', KEY: 'x' }, 'linux')).toEqual({
    HOME: '/me',
    PATH: '/own',
    KEY: 'x',
  })
})

test('a shell function is not passed to a child process', () => {
  expect(childEnvironment({ TERM: '() { :; }; id' }, {}, 'linux')).toEqual({})
})

test('names of variables are case-insensitive on Windows', () => {
  const parent = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', Token: 'secret', HOME: 'C:\\me' }
  expect(childEnvironment(parent, {}, 'win32')).toEqual({
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
  })
})

test('a configured variable replaces other spellings of its name on Windows', () => {
  const env = childEnvironment({ Path: 'C:\\bin', TEMP: 'C:\\t' }, { PATH: 'C:\\own' }, 'win32')
  expect(env).toEqual({ PATH: 'C:\\own', TEMP: 'C:\\t' })
})

describe('variables for package managers', () => {
  const environmentFrom = (parent: Record<string, string>, platform: NodeJS.Platform = 'linux') =>
    childEnvironment(parent, {}, platform)

  test('a child process gets proxies and certificate authorities in both spellings', () => {
    const parent = {
      HTTP_PROXY: 'http://me:pw@proxy:3128',
      https_proxy: 'http://proxy:3128',
      NO_PROXY: 'localhost',
      no_proxy: 'localhost',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      SSL_CERT_FILE: '/ca.pem',
      SSL_CERT_DIR: '/certs',
    }
    expect(environmentFrom(parent)).toEqual(parent)
    expect(environmentFrom({ Https_Proxy: 'http://proxy:3128' }, 'win32')).toHaveProperty(
      'Https_Proxy',
    )
  })

  test('a child process gets the settings of npm, pnpm, uv and pip', () => {
    const parent = {
      npm_config_registry: 'https://npm.example.com/',
      NPM_CONFIG_CAFILE: '/ca.pem',
      npm_config_https_proxy: 'http://me:pw@proxy:3128',
      UV_DEFAULT_INDEX: 'https://pypi.example.com/simple',
      PIP_INDEX_URL: 'https://pypi.example.com/simple',
      PIP_CERT: '/ca.pem',
    }
    expect(environmentFrom(parent)).toEqual(parent)
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
  ])('a child process does not get %s', (name) => {
    expect(environmentFrom({ [name]: 'x' })).toEqual({})
  })

  test('a configured proxy replaces both spellings of the inherited proxy', () => {
    const parent = { HTTPS_PROXY: 'http://proxy:3128', https_proxy: 'http://proxy:3128' }
    expect(childEnvironment(parent, { HTTPS_PROXY: '' }, 'linux')).toEqual({ HTTPS_PROXY: '' })
  })

  test('a child process does not get an index whose URL has a user name or password', () => {
    const address = 'https://me:pw@pypi.example.com/simple'
    expect(environmentFrom({ PIP_INDEX_URL: address, npm_config_registry: address })).toEqual({})
  })
})
