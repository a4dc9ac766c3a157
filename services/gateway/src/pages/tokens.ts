/**
 * Design tokens of the HTML pages that the gateway serves itself. They are those of the web UI that these pages use, with
 * the same names and values: packages/web/src/styles/tokens.css. `test/gateway-tokens.test.ts` compares the two.
 */
export const TOKENS = `
:root {
  color-scheme: light dark;

  --paper: light-dark(oklch(98.6% 0.002 250), oklch(20% 0.011 258));
  --raised: light-dark(oklch(100% 0 0), oklch(23% 0.012 258));
  --well: light-dark(oklch(97.6% 0.003 250), oklch(17.8% 0.011 258));
  --hover: light-dark(oklch(94.3% 0.006 250), oklch(26.2% 0.013 258));

  --line: light-dark(oklch(91.2% 0.005 250), oklch(29.5% 0.013 258));
  --line-strong: light-dark(oklch(84.5% 0.007 250), oklch(37% 0.014 258));
  --edge: light-dark(oklch(60% 0.012 250), oklch(56% 0.014 258));

  --ink: light-dark(oklch(24% 0.018 258), oklch(93.5% 0.005 250));
  --ink-2: light-dark(oklch(42% 0.018 258), oklch(78% 0.01 252));
  --ink-3: light-dark(oklch(49% 0.016 258), oklch(70% 0.012 254));

  --accent: light-dark(oklch(81% 0.118 86), oklch(80.5% 0.108 86));
  --on-accent: light-dark(oklch(23% 0.03 80), oklch(20% 0.03 80));
  --accent-ink: light-dark(oklch(45% 0.085 78), oklch(84% 0.1 87));
  --accent-mark: light-dark(oklch(61% 0.115 80), oklch(77% 0.11 85));

  --bad-ink: light-dark(oklch(46% 0.165 27), oklch(78% 0.115 25));
  --bad-mark: light-dark(oklch(56% 0.185 27), oklch(69% 0.155 25));
  --bad-line: light-dark(oklch(88% 0.05 25), oklch(40% 0.065 25));
  --bad-soft: light-dark(oklch(97.6% 0.012 25), oklch(23.6% 0.022 22));

  --sans: 'Segoe UI Variable Text', 'Segoe UI', Seravek, 'Open Sans', 'Noto Sans', Cantarell, Ubuntu, system-ui, 'DejaVu Sans', sans-serif;
  --mono: 'Cascadia Mono', 'SF Mono', ui-monospace, 'Noto Sans Mono', 'Ubuntu Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  --t-1: 0.75rem;
  --t-2: 0.8125rem;
  --t-3: 0.9375rem;
  --t-4: 1.125rem;
  --t-5: 1.625rem;
  --leading-tight: 1.3;
  --leading-ui: 1.45;
  --leading-text: 1.62;
  --normal: 400;
  --strong: 600;

  --s-1: 0.25rem;
  --s-2: 0.5rem;
  --s-3: 0.75rem;
  --s-4: 1rem;
  --s-5: 1.5rem;
  --s-6: 2rem;
  --s-7: 3rem;
  --control: 2rem;
  --text: 43rem;

  --r-1: 3px;
  --r-2: 6px;

  --ease: cubic-bezier(0.2, 0, 0, 1);
  --quick: 90ms;
}

@media (pointer: coarse) {
  :root {
    --control: 2.75rem;
  }
}

@media (prefers-reduced-motion: reduce) {
  :root {
    --quick: 0ms;
  }
}

@media (prefers-contrast: more) {
  :root {
    --ink-2: var(--ink);
    --ink-3: light-dark(oklch(36% 0.016 258), oklch(84% 0.01 252));
    --line: var(--line-strong);
    --line-strong: var(--edge);
  }
}
`.trimStart()
