import { useEffect } from 'react';
import { pageAddress } from '../api/base';

/** The states that a tab's icon shows. */
export type TabState = 'running' | 'succeeded' | 'warning' | 'failed' | 'ended';

/** Shows a state in the tab's icon while the component is mounted; null shows the app's own icon. */
export function useTabIcon(state: TabState | null): void {
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (!icon || !state) {
      return;
    }
    const own = icon.href;
    icon.href = pageAddress(`/tab-${state}.svg`);
    return () => {
      icon.href = own;
    };
  }, [state]);
}
