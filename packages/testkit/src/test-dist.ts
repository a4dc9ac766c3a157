/** The folder of bundled services, if this run of tests has one; otherwise services run from source. */
export function testDist(): string | undefined {
  return process.env['TEST_DIST'] || undefined
}
