/** A cost in the currency of its prices: two digits of a small one, otherwise two decimals. */
export function costText(cost: number): string {
  if (cost >= 1) return cost.toFixed(2)
  const digits = { minimumSignificantDigits: 2, maximumSignificantDigits: 2 }
  return cost.toLocaleString('en', digits)
}
