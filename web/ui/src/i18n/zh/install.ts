import type { install as english } from '../en/install';
import type { Translation } from '../translation';

export const install: Translation<typeof english> = {
  title: '安装 Chart',
  name: 'Release 名称',
  nameHelp: '最多 53 个小写字母、数字、点和连字符，且须以字母或数字开头和结尾。',
  namespace: '名称空间',
  values: '自定义值 (YAML)',
  submit: '安装',
  chart: {
    source: 'Chart 来源',
    sources: {
      catalog: '目录',
      url: 'URL',
      upload: '上传',
    },
    name: 'Chart',
    choose: '选择 Chart',
    none: '没有 Chart',
    missing: '无法加载 {{where}} 的 Chart',
    version: '版本',
    deprecated: '已弃用',
    url: 'Chart URL（oci:// 或 https://）',
    credentials: '凭据 Secret',
    credentialsHelp: '用于需要登录的 Chart：名称空间中含 username 和 password、ca.crt 或全部三项的 Secret。',
    latest: '最新',
    load: '加载',
    archive: 'Chart 压缩包 (.tgz)',
    archiveHelp: '由 helm package 打包的 Chart',
    browse: '浏览',
    clear: '清除',
  },
  reference: {
    label: '关于该 Chart',
    credentials: '凭据仅在操作运行时使用，因此无法在此显示 Chart。预览会显示其渲染结果。',
    none: '选择 Chart 以查看其值和 README。',
    loading: '正在加载 Chart',
    values: '默认值',
    readme: 'README',
    schema: 'Schema',
  },
};
