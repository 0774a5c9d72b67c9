/** The class that turns PatternFly's tokens dark when the root element has it. */
const DARK_THEME = 'pf-v6-theme-dark';

/** Keeps the page in the system's theme, now and whenever the system changes it. */
export function followSystemTheme(): void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle(DARK_THEME, dark.matches);
  dark.addEventListener('change', apply);
  apply();
}
