import { expect, test } from 'vitest'
import { describeRedirect } from './redirect-address.ts'

test.each([
  ['http://127.0.0.1:4321/callback', 'a program on this computer (127.0.0.1:4321)'],
  ['http://127.8.9.10/', 'a program on this computer (127.8.9.10)'],
  ['http://0x7f.1:80/', 'a program on this computer (127.0.0.1)'],
  ['http://localhost:33418/', 'a program on this computer (localhost:33418)'],
  ['http://LOCALHOST/', 'a program on this computer (localhost)'],
  ['https://localhost/', 'a program on this computer (localhost)'],
  ['http://[::1]:80/', 'a program on this computer ([::1])'],
  ['http://[0:0:0:0:0:0:0:1]:8080/', 'a program on this computer ([::1]:8080)'],
  ['http://[::ffff:127.0.0.1]/', '[::ffff:7f00:1]'],
  ['http://[::2]/', '[::2]'],
  ['http://localhost.evil.example/', 'localhost.evil.example'],
  ['http://127.0.0.1.evil.example/', '127.0.0.1.evil.example'],
  ['http://localhost@evil.example/', 'evil.example'],
  ['https://127.0.0.1:80@evil.example/', 'evil.example'],
  ['http://128.0.0.1/', '128.0.0.1'],
  ['http://evil.example/127.0.0.1', 'evil.example'],
  ['http://localhos\u0442/', 'xn--localhos-vch'],
  ['cursor://localhost/callback', 'the program that this computer opens for cursor:// addresses'],
  [
    'com.example.app:/callback',
    'the program that this computer opens for com.example.app:// addresses',
  ],
])('the page of %s says that it goes back to %s', (address, words) => {
  expect(describeRedirect(new URL(address))).toBe(words)
})
