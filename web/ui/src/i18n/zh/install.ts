import type { install as english } from '../en/install';
import type { Translation } from '../translation';

export const install: Translation<typeof english> = {
  title: '安装 Chart',
  name: '发布名称',
  nameHelp: '最多 53 个小写字母、数字、点和短横线，首尾须为字母或数字',
  namespace: '命名空间',
  values: '您的值 (YAML)',
  submit: '安装',
  chart: {
    source: 'Chart 来源',
    sources: {
      list: '列表',
      address: '地址',
      upload: '归档',
    },
    name: 'Chart',
    choose: '选择 Chart',
    none: '没有 Chart',
    missing: '列表中缺少 {{where}}',
    version: '版本',
    deprecated: '已弃用',
    address: '地址（oci:// 或 https://）',
    login: '含登录信息的 Secret',
    loginHelp: '用于需要登录的 Chart：命名空间中含 username 和 password、ca.crt 或全部三项的 Secret。',
    newest: '最新',
    read: '读取',
    archive: '归档 (.tgz)',
    archiveHelp: '由 helm package 生成的 Chart',
    browse: '浏览',
    clear: '清除',
  },
  reference: {
    label: '关于该 Chart',
    login: '登录信息仅在 helm 运行时提供给它，因此无法在此读取 Chart；预览会显示其渲染结果。',
    none: '选择 Chart 以查看其值和 README。',
    reading: '正在读取 Chart',
    values: '默认值',
    readme: 'README',
    schema: '模式',
  },
};
