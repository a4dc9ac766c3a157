/**
 * Headers of each answer that sets none of its own: most have data of one user, which no cache may keep, and which a
 * browser must not show as a page.
 */
export const DATA_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}
