import i18next from 'i18next';
import { initReactI18next, useTranslation } from 'react-i18next';
import { setServerWords } from './serverWords';

/** The languages of the pages and their names in the language itself. */
export const LANGUAGES = [
  { id: 'en', name: 'English' },
  { id: 'zh', name: '中文' },
] as const;

export type Language = (typeof LANGUAGES)[number]['id'];

const CHOICE = 'helmtrail.language';

/** The catalogue of each language, and its translation of the server's sentences. */
const languages = {
  en: async () => ({ ...(await import('./en')), server: null }),
  zh: () => import('./zh'),
};

/** Returns the first preferred language with a catalogue, or English. */
export function preferredLanguage(preferences: readonly string[]): Language {
  for (const preference of preferences) {
    const primary = preference.toLowerCase().split('-')[0];
    const found = LANGUAGES.find(({ id }) => id === primary);
    if (found) {
      return found.id;
    }
  }
  return 'en';
}

/** Loads the catalogue of the language that the user has selected, or of the browser's language. */
export async function startI18n(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: {},
    fallbackLng: false,
    defaultNS: 'common',
    interpolation: { escapeValue: false }, // React does it.
    react: { useSuspense: false },
  });
  await speak(preferredLanguage([localStorage.getItem(CHOICE) ?? '', ...navigator.languages]));
}

async function speak(language: Language): Promise<void> {
  const { catalogue, server } = await languages[language]();
  setServerWords(server);
  for (const [namespace, texts] of Object.entries(catalogue)) {
    i18next.addResourceBundle(language, namespace, texts);
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

/** Returns the current language and a function that changes it permanently. */
export function useLanguage(): [Language, (language: Language) => Promise<void>] {
  const { i18n } = useTranslation();
  const choose = async (language: Language) => {
    localStorage.setItem(CHOICE, language);
    await speak(language);
  };
  return [preferredLanguage([i18n.language]), choose];
}
