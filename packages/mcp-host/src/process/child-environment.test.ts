import { expect, test } from 'vitest'

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
