/** The class of the root element that selects PatternFly's dark theme. */
const DARK_THEME = 'pf-v6-theme-dark';

/** Applies the system's theme, now and whenever it changes. */
export function followSystemTheme(): void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle(DARK_THEME, dark.matches);
  dark.addEventListener('change', apply);
  apply();
}
