import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Config } from './settings.ts'
import { ConfigError, loadConfig, setting, values } from './settings.ts'

const settings = {
  port: setting({
    env: 'PORT',
    schema: values.integer(0, 65_535),
    default: '3000',
    describe: 'Port.',
  }),
  url: setting({ env: 'BASE_URL', schema: values.url, describe: 'URL.' }),
  key: setting({
    env: 'API_KEY',
    schema: values.secret.optional(),
    describe: 'Key.',
    isSecret: true,
  }),
  origins: setting({
    env: 'ORIGINS',
    schema: values.list,
    default: '',
    describe: 'Origins.',
  }),
}
const complete = { BASE_URL: 'http://localhost:1' }

function problemsOf(
  env: Record<string, string>,
  check?: (config: Config<typeof settings>) => string[],
) {
  try {
    loadConfig(settings, env, check)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  throw new Error('no setting was faulty')
}

test('a setting is read from its alias when its own name is not set, and faults name the variable', () => {
  const aliased = {
    tokens: setting({
      env: 'TOKENS',
      aliases: ['OLD'],
      schema: values.integer(1, 9),
      describe: '',
    }),
  }
  expect(loadConfig(aliased, { OLD: '3' })).toEqual({ tokens: 3 })
  expect(loadConfig(aliased, { OLD: '3', TOKENS: '4' })).toEqual({ tokens: 4 })
  expect(() => loadConfig(aliased, { OLD: 'x', TOKENS: '' })).toThrow('OLD=x: must be')
})

describe('settings', () => {
  test('settings are parsed by their schemas', () => {
    const env = {
      ...complete,
      PORT: '8080',
      ORIGINS: 'http://a, http://b,,',
      API_KEY: 'k',
      MORE: '1',
    }
    const config = loadConfig(settings, env)
    expect(config).toMatchObject({
      port: 8080,
      url: 'http://localhost:1',
      origins: ['http://a', 'http://b'],
    })
    expect(config.key?.open()).toBe('k')
    expect(Object.keys(config)).toEqual(['port', 'url', 'key', 'origins'])
  })

  test('settings that are not set have their defaults', () => {
    expect(loadConfig(settings, complete)).toEqual({
      port: 3000,
      url: 'http://localhost:1',
      key: undefined,
      origins: [],
    })
  })

  test('empty settings count as not set', () => {
    const config = loadConfig(settings, { ...complete, PORT: '', API_KEY: '' })
    expect(config.port).toBe(3000)
    expect(config.key).toBeUndefined()
    expect(problemsOf({ BASE_URL: '' })).toEqual(['BASE_URL: is required'])
  })

  test('loaded settings are frozen', () => {
    expect(Object.isFrozen(loadConfig(settings, complete))).toBe(true)
  })
})

describe('faulty settings', () => {
  test('all faulty settings are reported together, each with its value and fault', () => {
    expect(problemsOf({ PORT: '70000', BASE_URL: 'nowhere' })).toEqual([
      'PORT=70000: must be from 0 to 65535',
      'BASE_URL=nowhere: must be a URL',
    ])
    expect(() => loadConfig(settings, { PORT: 'x' })).toThrow(
      'faulty settings:\n  PORT=x: must be a whole number\n  BASE_URL: is required',
    )
  })

  test.each(['1.5', '1e3', '0x10', ' 1', 'Infinity', '-1'])('the port %j is refused', (PORT) => {
    expect(problemsOf({ ...complete, PORT })).toHaveLength(1)
  })

  test('a faulty setting does not reveal a secret', () => {
    const strict = {
      key: setting({
        env: 'API_KEY',
        schema: z.string().regex(/^key-/, 'must begin with key-'),
        describe: 'Key.',
        isSecret: true,
      }),
    }
    const load = () => loadConfig(strict, { API_KEY: 'hunter2' })
    expect(load).toThrow('API_KEY (not shown): must begin with key-')
    expect(load).not.toThrow('hunter2')
  })

  test('contradictory settings are reported once each setting is valid', () => {
    const check = ({ port, url }: Config<typeof settings>) =>
      url.endsWith(`:${port}`) ? [] : ['PORT and BASE_URL disagree']
    expect(problemsOf(complete, check)).toEqual(['PORT and BASE_URL disagree'])
    expect(problemsOf({ ...complete, PORT: 'x' }, check)).toEqual([
      'PORT=x: must be a whole number',
    ])
    expect(loadConfig(settings, { ...complete, PORT: '1' }, check).port).toBe(1)
  })
})
